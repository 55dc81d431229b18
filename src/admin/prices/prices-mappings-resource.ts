/** Ids that stand for a model, over HTTP: listing, saving, removing. */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';
import { findMappingProblem } from '../../prices/check-declaration.ts';
import { listDeclarations, removeDeclaration, saveDeclaration } from '../../prices/declaration-store.ts';
import { MAPPINGS } from '../../prices/declaration-tables.ts';
import { type AdminDeps, requireDatabase } from '../admin-deps.ts';
import { readActor } from '../read-actor.ts';
import { COMMON_ERRORS, errorAnswer, jsonAnswer, listOf } from '../schemas.ts';
import { answerSaved, IdParameter, NO_DECLARATION, SavedFields } from './prices-declarations.ts';
import { MappingBody, MappingRecord } from './prices-schemas.ts';

const PATH = '/api/v1/prices/mappings';
const MappingList = listOf(MappingRecord);
const SavedMapping = z.object({ mapping: MappingRecord, ...SavedFields });
const RemovedMapping = z.object({ mapping: MappingRecord });

export function addPriceMappingRoutes(app: OpenAPIHono, deps: AdminDeps): void {
  const list = createRoute({
    method: 'get',
    path: PATH,
    summary: 'Ids that say nothing about their model, and the model that they are billed as',
    responses: { 200: jsonAnswer(MappingList, 'All in one page, by provider'), ...COMMON_ERRORS },
  });
  app.openapi(list, async (c) => {
    const mappings = await listDeclarations(requireDatabase(deps), deps.accountId, MAPPINGS);
    return c.json({ data: [...mappings], next_cursor: null }, 200);
  });

  const save = createRoute({
    method: 'post',
    path: PATH,
    summary: 'Declare which model an id is billed as: an inference profile, a fine-tune, a deployment, an alias',
    request: { body: { required: true, content: { 'application/json': { schema: MappingBody } } } },
    responses: {
      201: jsonAnswer(SavedMapping, 'Stored; takes the place of one for the same calls from the same time'),
      409: errorAnswer('It would lead back to itself, or there are too many'),
      ...COMMON_ERRORS,
    },
  });
  app.openapi(save, async (c) => {
    const pool = requireDatabase(deps);
    const change = { accountId: deps.accountId, actor: readActor(c) };
    const saved = await saveDeclaration(pool, change, MAPPINGS, c.req.valid('json'), findMappingProblem);
    const { declared, ...rest } = await answerSaved(deps, pool, saved, MAPPINGS.toDeclaration);
    return c.json({ mapping: declared, ...rest }, 201);
  });

  const remove = createRoute({
    method: 'delete',
    path: `${PATH}/{id}`,
    summary: 'Take a mapping back; what calls were priced with it stays as it is',
    request: { params: IdParameter },
    responses: { 200: jsonAnswer(RemovedMapping, 'As it was'), 404: errorAnswer('No such mapping'), ...COMMON_ERRORS },
  });
  app.openapi(remove, async (c) => {
    const pool = requireDatabase(deps);
    const change = { accountId: deps.accountId, actor: readActor(c) };
    const removed = await removeDeclaration(pool, change, MAPPINGS, c.req.valid('param').id);
    if (removed === null) throw NO_DECLARATION;
    await deps.prices.refresh(pool);
    return c.json({ mapping: removed }, 200);
  });
}
