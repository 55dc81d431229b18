/** The operator's own prices over HTTP: listing, saving, removing. */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';
import { listDeclarations, removeDeclaration, saveDeclaration } from '../../prices/declaration-store.ts';
import { OVERRIDES } from '../../prices/declaration-tables.ts';
import { type AdminDeps, requireDatabase } from '../admin-deps.ts';
import { readActor } from '../read-actor.ts';
import { COMMON_ERRORS, errorAnswer, jsonAnswer, listOf } from '../schemas.ts';
import { answerSaved, IdParameter, NO_DECLARATION, SavedFields } from './prices-declarations.ts';
import { OverrideBody, OverrideRecord } from './prices-schemas.ts';

const PATH = '/api/v1/prices/overrides';
const OverrideList = listOf(OverrideRecord);
const SavedOverride = z.object({ override: OverrideRecord, ...SavedFields });
const RemovedOverride = z.object({ override: OverrideRecord });

export function addPriceOverrideRoutes(app: OpenAPIHono, deps: AdminDeps): void {
  const list = createRoute({
    method: 'get',
    path: PATH,
    summary: 'The prices that were declared here; they outrank those that come with the gateway',
    responses: { 200: jsonAnswer(OverrideList, 'All in one page, by provider'), ...COMMON_ERRORS },
  });
  app.openapi(list, async (c) => {
    const overrides = await listDeclarations(requireDatabase(deps), deps.accountId, OVERRIDES);
    return c.json({ data: [...overrides], next_cursor: null }, 200);
  });

  const save = createRoute({
    method: 'post',
    path: PATH,
    summary: 'Declare the price of a model. New calls have it at once, older ones when they are priced again',
    request: { body: { required: true, content: { 'application/json': { schema: OverrideBody } } } },
    responses: {
      201: jsonAnswer(SavedOverride, 'Stored; takes the place of one for the same calls from the same time'),
      409: errorAnswer('Too many'),
      ...COMMON_ERRORS,
    },
  });
  app.openapi(save, async (c) => {
    const pool = requireDatabase(deps);
    const change = { accountId: deps.accountId, actor: readActor(c) };
    const saved = await saveDeclaration(pool, change, OVERRIDES, c.req.valid('json'));
    const { declared, ...rest } = await answerSaved(deps, pool, saved, OVERRIDES.toDeclaration);
    return c.json({ override: declared, ...rest }, 201);
  });

  const remove = createRoute({
    method: 'delete',
    path: `${PATH}/{id}`,
    summary: 'Take a declared price back; what calls were priced with it stays as it is',
    request: { params: IdParameter },
    responses: {
      200: jsonAnswer(RemovedOverride, 'As it was'),
      404: errorAnswer('No such override'),
      ...COMMON_ERRORS,
    },
  });
  app.openapi(remove, async (c) => {
    const pool = requireDatabase(deps);
    const change = { accountId: deps.accountId, actor: readActor(c) };
    const removed = await removeDeclaration(pool, change, OVERRIDES, c.req.valid('param').id);
    if (removed === null) throw NO_DECLARATION;
    await deps.prices.refresh(pool);
    return c.json({ override: removed }, 200);
  });
}
