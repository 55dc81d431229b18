/** Lists, saves and removes the operator's prices, mappings and discounts. */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';
import { listWarnings } from '../../prices/declared/check-declaration.ts';
import {
  type Declaration,
  type DeclarationKind,
  type StoredFields,
  withoutKind,
} from '../../prices/declared/declaration.ts';
import {
  listDeclarations,
  MAX_DECLARATIONS,
  removeDeclaration,
  saveDeclaration,
} from '../../prices/declared/declaration-store.ts';
import { type AdminDeps, requireDatabase } from '../admin-deps.ts';
import { ApiError } from '../api-error.ts';
import { accountOf } from '../principal.ts';
import { readActor } from '../read-actor.ts';
import { COMMON_ERRORS, errorAnswer, jsonAnswer, listOf } from '../schemas.ts';
import {
  DeclarationId,
  MappingBody,
  MappingRecord,
  MultiplierBody,
  MultiplierRecord,
  OverrideBody,
  OverrideRecord,
} from './prices-schemas.ts';

export const NO_DECLARATION = new ApiError(404, 'declaration_not_found', 'There is no such declaration with this id.');

const SavedFields = {
  replaced: z.boolean().describe('One with the same key stood there before, with other content'),
  changed: z.boolean().describe('False: it stood there in the same words, and nothing was done'),
  warnings: z.array(z.string()).describe('What is probably not meant'),
} as const;

function createListRoute<const Path extends string, Declared extends StoredFields>(
  path: Path,
  record: z.ZodType<Declared>,
  summary: string,
) {
  return createRoute({
    method: 'get',
    path,
    summary,
    responses: { 200: jsonAnswer(listOf(record), 'All in one page, by provider'), ...COMMON_ERRORS },
  });
}

function createSaveRoute<const Path extends string>(
  path: Path,
  body: z.ZodType<Declaration>,
  answer: Readonly<Record<string, z.ZodType<StoredFields>>>,
  { summary, conflict }: { readonly summary: string; readonly conflict: string },
) {
  const Saved: z.ZodType<Record<string, StoredFields | boolean | string[]>> = z.object(answer).extend(SavedFields);
  return createRoute({
    method: 'post',
    path,
    summary,
    request: { body: { required: true, content: { 'application/json': { schema: body } } } },
    responses: {
      201: jsonAnswer(Saved, 'Stored; takes the place of one for the same calls from the same time'),
      409: errorAnswer(conflict),
      ...COMMON_ERRORS,
    },
  });
}

function createRemoveRoute<const Path extends string>(
  path: Path,
  answer: Readonly<Record<string, z.ZodType<StoredFields>>>,
  { taken, name }: { readonly taken: string; readonly name: string },
) {
  const Removed: z.ZodType<Record<string, StoredFields>> = z.object(answer);
  return createRoute({
    method: 'delete',
    path,
    summary: `Take ${taken} back; what calls were priced with it stays as it is`,
    request: { params: z.object({ id: DeclarationId }) },
    responses: { 200: jsonAnswer(Removed, 'As it was'), 404: errorAnswer(`No such ${name}`), ...COMMON_ERRORS },
  });
}

export const overridesRoute = createListRoute(
  '/api/v1/prices/overrides',
  OverrideRecord,
  'The prices that were declared here; they outrank those that come with the gateway',
);
export const saveOverrideRoute = createSaveRoute(
  '/api/v1/prices/overrides',
  OverrideBody,
  { override: OverrideRecord },
  {
    summary: 'Declare the price of a model. New calls have it at once, older ones when they are priced again',
    conflict: 'Too many',
  },
);
export const removeOverrideRoute = createRemoveRoute(
  '/api/v1/prices/overrides/{id}',
  { override: OverrideRecord },
  { taken: 'a declared price', name: 'override' },
);

export const mappingsRoute = createListRoute(
  '/api/v1/prices/mappings',
  MappingRecord,
  'Ids that say nothing about their model, and the model that they are billed as',
);
export const saveMappingRoute = createSaveRoute(
  '/api/v1/prices/mappings',
  MappingBody,
  { mapping: MappingRecord },
  {
    summary: 'Declare which model an id is billed as: an inference profile, a fine-tune, a deployment, an alias',
    conflict: 'It would lead back to itself, or there are too many',
  },
);
export const removeMappingRoute = createRemoveRoute(
  '/api/v1/prices/mappings/{id}',
  { mapping: MappingRecord },
  { taken: 'a mapping', name: 'mapping' },
);

export const multipliersRoute = createListRoute(
  '/api/v1/prices/multipliers',
  MultiplierRecord,
  'Negotiated discounts: list prices of a provider cost so many times as much',
);
export const saveMultiplierRoute = createSaveRoute(
  '/api/v1/prices/multipliers',
  MultiplierBody,
  { multiplier: MultiplierRecord },
  {
    summary: 'Declare a discount on the list prices of a provider; declared prices are not multiplied',
    conflict: 'Too many',
  },
);
export const removeMultiplierRoute = createRemoveRoute(
  '/api/v1/prices/multipliers/{id}',
  { multiplier: MultiplierRecord },
  { taken: 'a discount', name: 'discount' },
);

interface DeclarationRoutes {
  readonly list: ReturnType<typeof createListRoute<string, StoredFields>>;
  readonly save: ReturnType<typeof createSaveRoute<string>>;
  readonly remove: ReturnType<typeof createRemoveRoute<string>>;
}

const ROUTES: Readonly<Record<DeclarationKind, DeclarationRoutes>> = {
  override: { list: overridesRoute, save: saveOverrideRoute, remove: removeOverrideRoute },
  mapping: { list: mappingsRoute, save: saveMappingRoute, remove: removeMappingRoute },
  multiplier: { list: multipliersRoute, save: saveMultiplierRoute, remove: removeMultiplierRoute },
};

export function addDeclarationRoutes(app: OpenAPIHono, deps: AdminDeps, kind: DeclarationKind): void {
  const { list, save, remove } = ROUTES[kind];

  app.openapi(list, async (c) => {
    const stored = await listDeclarations(requireDatabase(deps), accountOf(c), kind);
    return c.json({ data: stored.map(withoutKind), next_cursor: null }, 200);
  });

  app.openapi(save, async (c) => {
    const pool = requireDatabase(deps);
    const change = { accountId: accountOf(c), actor: readActor(c) };
    const saved = await saveDeclaration(pool, change, c.req.valid('json'));
    if (saved.type === 'too_many')
      throw new ApiError(
        409,
        'too_many_declarations',
        `There are ${MAX_DECLARATIONS} of this kind already; remove some, or declare a prefix for many models.`,
      );
    if (saved.type === 'refused') throw new ApiError(409, 'mapping_loop', saved.problem);
    // The answer means that the prices are in force here; other nodes follow within about a second.
    await deps.prices.refresh(pool);
    const { declared, isReplaced: replaced, isChanged: changed } = saved;
    const warnings = [...listWarnings(declared, deps.prices.book(accountOf(c)))];
    return c.json({ [kind]: withoutKind(declared), replaced, changed, warnings }, 201);
  });

  app.openapi(remove, async (c) => {
    const pool = requireDatabase(deps);
    const change = { accountId: accountOf(c), actor: readActor(c) };
    const removed = await removeDeclaration(pool, change, { kind, id: c.req.valid('param').id });
    if (removed === null) throw NO_DECLARATION;
    await deps.prices.refresh(pool);
    return c.json({ [kind]: withoutKind(removed) }, 200);
  });
}
