/** Previews a change of the declared prices without making it. */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';
import type pg from 'pg';
import { createPriceBook } from '../../../pricing/price-book.ts';
import { PROVIDER_NAMES } from '../../../vocabulary/call-record.ts';
import { findMappingProblem, listWarnings } from '../../prices/declared/check-declaration.ts';
import type { Declaration } from '../../prices/declared/declaration.ts';
import { listDeclarations, readDeclaration } from '../../prices/declared/declaration-store.ts';
import { findPreviewCalls, toCallScope } from '../../prices/declared/preview-calls.ts';
import { editPrices, type PriceEdit } from '../../prices/declared/preview-price-book.ts';
import { previewPrices } from '../../prices/declared/preview-prices.ts';
import { type AdminDeps, requireDatabase } from '../admin-deps.ts';
import { ApiError } from '../api-error.ts';
import { accountOf } from '../principal.ts';
import { COMMON_ERRORS, errorAnswer, jsonAnswer, Money, Time, TimeParameter, toDate } from '../schemas.ts';
import { NO_DECLARATION } from './prices-declarations-resource.ts';
import { DeclarationBody, DeclarationId, DeclarationKindField } from './prices-schemas.ts';

const RANGE_MS = 30 * 86_400_000;
const MAX_CALLS = 2_000;

const PreviewRequest = z.strictObject({
  add: DeclarationBody.nullable().default(null).describe('A declaration as it would be sent, and its `kind`'),
  remove: z.strictObject({ kind: DeclarationKindField, id: DeclarationId }).nullable().default(null),
  from: TimeParameter.optional().describe('Calls at or after this; default, and earliest: 30 days ago'),
  limit: z.number().int().min(1).max(MAX_CALLS).default(MAX_CALLS).describe('The latest calls that it may concern'),
});

const Sums = {
  calls: z.number().int().describe('Calls looked at'),
  changed: z.number().int().describe('Calls whose cost, status or billed model would be another'),
  old_cost: Money.describe('As it stands in the log; of a call without a total what is known'),
  new_cost: Money,
  old_unpriced: z.number().int().describe('Calls without a total'),
  new_unpriced: z.number().int(),
} as const;

export const PreviewBody = z
  .object({
    ...Sums,
    models: z.array(
      z.object({
        provider: z.enum(PROVIDER_NAMES),
        model: z.string().nullable().describe('Billed until now'),
        ...Sums,
      }),
    ),
    examples: z
      .array(
        z.object({
          id: z.string(),
          requested_at: Time,
          model: z.string().nullable(),
          old_cost: Money,
          new_cost: Money,
          old_status: z.string(),
          new_status: z.string(),
        }),
      )
      .describe('The latest calls that would change, at most 10'),
    price_version: z.string().describe('That the price book would have'),
    warnings: z.array(z.string()).describe('What is probably not meant'),
  })
  .openapi('PricePreview');
export type PreviewBody = z.infer<typeof PreviewBody>;

async function checkMapping(pool: pg.Pool, accountId: number, { add, remove }: PriceEdit): Promise<void> {
  if (add?.kind !== 'mapping') return;
  const others = await listDeclarations(pool, accountId, 'mapping');
  const left = others.filter(({ id }) => !(remove?.kind === 'mapping' && remove.id === id));
  const problem = findMappingProblem(add, left);
  if (problem !== null) throw new ApiError(409, 'mapping_loop', problem);
}

/** A declared id should have calls, if it is right. */
function isForPastIds(add: Declaration | null, nowMs: number): boolean {
  if (add === null || add.kind === 'multiplier') return false;
  return add.valid_from === null || Date.parse(add.valid_from) < nowMs;
}

export const previewRoute = createRoute({
  method: 'post',
  path: '/api/v1/prices/preview',
  summary: 'What a declaration, or taking one back, would do to the latest calls that it is for',
  request: { body: { required: true, content: { 'application/json': { schema: PreviewRequest } } } },
  responses: {
    200: jsonAnswer(PreviewBody, 'The same calls as they stand, and as they would be'),
    404: errorAnswer('There is nothing to remove with this id'),
    409: errorAnswer('The mapping would lead back to itself'),
    ...COMMON_ERRORS,
  },
});

export function addPricePreviewRoutes(app: OpenAPIHono, deps: AdminDeps): void {
  app.openapi(previewRoute, async (c) => {
    const { add, remove, from, limit } = c.req.valid('json');
    const pool = requireDatabase(deps);
    const edit: PriceEdit = { add, remove };
    if (add === null && remove === null)
      throw new ApiError(400, 'invalid_request', 'Give a declaration to `add` or one to `remove`.');
    const removed = remove === null ? null : await readDeclaration(pool, accountOf(c), remove);
    if (remove !== null && removed === null) throw NO_DECLARATION;
    await checkMapping(pool, accountOf(c), edit);
    await deps.prices.refresh(pool);
    const { catalog, operator } = deps.prices.layers(accountOf(c));
    const book = createPriceBook({ catalog, operator: editPrices(operator, edit) });

    const nowMs = deps.nowMs();
    const earliestMs = nowMs - RANGE_MS;
    const window = {
      from: new Date(Math.max(earliestMs, toDate(from)?.getTime() ?? earliestMs)),
      to: new Date(nowMs + 1),
      limit,
    };
    const scopes = [add, removed].filter((declaration) => declaration !== null).map(toCallScope);
    const { rows, searchedFrom } = await findPreviewCalls(pool, accountOf(c), scopes, window);
    const found = await previewPrices(rows, book);
    const warnings = [
      ...(add === null ? [] : listWarnings(add, book)),
      ...(rows.length === 0 && searchedFrom === null && isForPastIds(add, nowMs)
        ? ['no call of this time is for it; is the id spelt as in the log?']
        : []),
      ...(found.new_unpriced > found.old_unpriced
        ? [
            `calls that have a cost would have none, or only a part of one${add?.kind === 'override' ? '; give every class that they use its rate' : ''}`,
          ]
        : []),
      ...(searchedFrom === null ? [] : [`only calls since ${searchedFrom.toISOString()} were looked at`]),
    ];
    return c.json({ ...found, price_version: book.version, warnings }, 200);
  });
}
