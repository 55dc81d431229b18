/** Takes in the spool of a node that is gone, whole or not at all. */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';
import { type AdminDeps, requireDatabase } from './admin-deps.ts';
import { bindingsOf } from './bindings-of.ts';
import { parseQuery } from './parse-query.ts';
import { readActor } from './read-actor.ts';
import { readUpload } from './read-upload.ts';
import { COMMON_ERRORS, errorAnswer, jsonAnswer } from './schemas.ts';

export const SPOOL_IMPORT_PATH = '/api/v1/spool/import';

const MAX_NAMES = 1_000;
const ReceivedBody = z
  .object({
    names: z.array(z.string()).describe('The process directories that are in the spool now'),
    bytes: z.number().int(),
  })
  .openapi('ReceivedSpool');
const StateBody = z.object({
  waiting: z.array(z.string()).describe('Those that are in the spool and not wholly stored yet'),
  live_node: z.string().nullable().describe('A node that has one of them and has given a sign of life within 45 s'),
  unknown: z
    .array(z.string())
    .describe('Those of which no node of this database is known: they may be of another deployment, with other keys'),
});
const WaitingQuery = z.strictObject({
  name: z.union([z.string(), z.array(z.string()).max(MAX_NAMES)]),
  node: z.uuid().optional().describe('Id of the node they are of, as in its `node.json`, where that is there'),
});

export function addSpoolRoutes(app: OpenAPIHono, deps: AdminDeps): void {
  const receive = createRoute({
    method: 'post',
    path: SPOOL_IMPORT_PATH,
    summary: 'Take in the spool of a node that is gone',
    description:
      'Sent by `tollgate spool import`: a line of JSON with the files, their bytes, and a last line. All of it is put into the spool, or nothing. A second time the same makes no second row.',
    responses: {
      200: jsonAnswer(ReceivedBody, 'It is in the spool, and is stored by itself'),
      409: errorAnswer('The node lives, or the directories are in the spool already'),
      ...COMMON_ERRORS,
    },
  });
  // The body is read as a stream, so no middleware may read it.
  app.openAPIRegistry.registerPath({
    ...receive,
    request: {
      body: {
        required: true,
        content: { 'application/octet-stream': { schema: z.string() } },
      },
    },
  });
  app.post(SPOOL_IMPORT_PATH, async (c) => {
    requireDatabase(deps);
    const { incoming } = bindingsOf(c.env);
    const actor = readActor(c);
    const { names, bytes } = await deps.spoolImports.receive(readUpload(incoming));
    deps.log.warn({ actor, names, bytes }, 'the spool of another node was taken in');
    return c.json({ names: [...names], bytes }, 200);
  });

  const look = createRoute({
    method: 'get',
    path: SPOOL_IMPORT_PATH,
    summary: 'How far these process directories are, before and after they are taken in',
    request: { query: WaitingQuery },
    responses: {
      200: jsonAnswer(StateBody, 'As of now'),
      ...COMMON_ERRORS,
    },
  });
  app.openapi(look, async (c) => {
    const { name, node } = parseQuery(c.req.url, WaitingQuery);
    const names = typeof name === 'string' ? [name] : name;
    const safe = names.filter((one) => /^[A-Za-z0-9][\w.-]{0,199}$/.test(one));
    const [waiting, liveNode, unknown] = await Promise.all([
      deps.spoolImports.listWaiting(safe),
      deps.spoolImports.findLiveNode(safe),
      deps.spoolImports.listUnknown(safe, node ?? null),
    ]);
    return c.json({ waiting: [...waiting], live_node: liveNode, unknown: [...unknown] }, 200);
  });
}
