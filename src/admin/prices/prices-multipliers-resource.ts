/** Negotiated discounts over HTTP: listing, saving, removing. */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';
import { listDeclarations, removeDeclaration, saveDeclaration } from '../../prices/declaration-store.ts';
import { MULTIPLIERS } from '../../prices/declaration-tables.ts';
import { type AdminDeps, requireDatabase } from '../admin-deps.ts';
import { readActor } from '../read-actor.ts';
import { COMMON_ERRORS, errorAnswer, jsonAnswer, listOf } from '../schemas.ts';
import { answerSaved, IdParameter, NO_DECLARATION, SavedFields } from './prices-declarations.ts';
import { MultiplierBody, MultiplierRecord } from './prices-schemas.ts';

const PATH = '/api/v1/prices/multipliers';
const MultiplierList = listOf(MultiplierRecord);
const SavedMultiplier = z.object({ multiplier: MultiplierRecord, ...SavedFields });
const RemovedMultiplier = z.object({ multiplier: MultiplierRecord });

export function addPriceMultiplierRoutes(app: OpenAPIHono, deps: AdminDeps): void {
  const list = createRoute({
    method: 'get',
    path: PATH,
    summary: 'Negotiated discounts: list prices of a provider cost so many times as much',
    responses: { 200: jsonAnswer(MultiplierList, 'All in one page, by provider'), ...COMMON_ERRORS },
  });
  app.openapi(list, async (c) => {
    const multipliers = await listDeclarations(requireDatabase(deps), deps.accountId, MULTIPLIERS);
    return c.json({ data: [...multipliers], next_cursor: null }, 200);
  });

  const save = createRoute({
    method: 'post',
    path: PATH,
    summary: 'Declare a discount on the list prices of a provider; declared prices are not multiplied',
    request: { body: { required: true, content: { 'application/json': { schema: MultiplierBody } } } },
    responses: {
      201: jsonAnswer(SavedMultiplier, 'Stored; takes the place of one for the same calls from the same time'),
      409: errorAnswer('Too many'),
      ...COMMON_ERRORS,
    },
  });
  app.openapi(save, async (c) => {
    const pool = requireDatabase(deps);
    const change = { accountId: deps.accountId, actor: readActor(c) };
    const saved = await saveDeclaration(pool, change, MULTIPLIERS, c.req.valid('json'));
    const { declared, ...rest } = await answerSaved(deps, pool, saved, MULTIPLIERS.toDeclaration);
    return c.json({ multiplier: declared, ...rest }, 201);
  });

  const remove = createRoute({
    method: 'delete',
    path: `${PATH}/{id}`,
    summary: 'Take a discount back; what calls were priced with it stays as it is',
    request: { params: IdParameter },
    responses: {
      200: jsonAnswer(RemovedMultiplier, 'As it was'),
      404: errorAnswer('No such discount'),
      ...COMMON_ERRORS,
    },
  });
  app.openapi(remove, async (c) => {
    const pool = requireDatabase(deps);
    const change = { accountId: deps.accountId, actor: readActor(c) };
    const removed = await removeDeclaration(pool, change, MULTIPLIERS, c.req.valid('param').id);
    if (removed === null) throw NO_DECLARATION;
    await deps.prices.refresh(pool);
    return c.json({ multiplier: removed }, 200);
  });
}
