/** The nodes that share the database: which live, which are silent, and what each has left to store. */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';
import { forgetNodes, listNodes, type StoredNode } from '../store/nodes.ts';
import { listDifferences, readSharedSettings, type SharedSettings } from '../store/shared-settings.ts';
import { type AdminDeps, requireDatabase } from './admin-deps.ts';
import { ApiError } from './api-error.ts';
import { accountOf } from './principal.ts';
import { readActor } from './read-actor.ts';
import { COMMON_ERRORS, errorAnswer, jsonAnswer, Time } from './schemas.ts';

const NodeBody = z
  .object({
    id: z.string().describe('Made at its first start and kept in its data directory'),
    name: z.string().describe('TOLLGATE_NODE, as in the column `node` of its calls; two nodes may have the same'),
    host: z.string().describe('Name of its machine or container'),
    is_self: z.boolean().describe('It is the one that answers'),
    version: z.string(),
    role: z
      .enum(['all', 'proxy', 'control'])
      .describe('`proxy`: takes calls only; `control`: dashboard, API and what is done for all nodes; `all`: both'),
    state: z
      .enum(['live', 'silent', 'stopped'])
      .describe('`silent`: no sign of life for 15 minutes, and it did not say that it stops'),
    started_at: Time,
    seen_at: Time.describe('Its last sign of life, by the clock of the database as all times here'),
    silent_seconds: z.number().int().describe('Since then'),
    stopped_at: Time.nullable(),
    is_doubled: z.boolean().describe('Another gateway says that it is this one: a data directory was copied'),
    clock_skew_ms: z.number().int().describe('Its clock less that of the database'),
    clock_stepped_at: Time.nullable().describe('When its clock last jumped while it ran'),
    clock_step_ms: z.number().int().nullable(),
    records_waiting: z
      .number()
      .int()
      .nullable()
      .describe('Endings in its spool when it was last seen; null: not known'),
    open_calls: z.number().int().nullable().describe('Calls that it had open when it was last seen; null: not known'),
    shown_open: z.number().int().describe('Calls of it that the log shows as running'),
    differing_settings: z.array(z.string()).describe('It was started with other values than those in force for all'),
  })
  .openapi('Node');

const NodeListBody = z.object({ data: z.array(NodeBody) });

export type NodeList = z.infer<typeof NodeListBody>;

function formatNode(node: StoredNode, ownId: string, shared: SharedSettings | null): z.infer<typeof NodeBody> {
  return {
    id: node.id,
    name: node.name,
    host: node.host,
    is_self: node.id === ownId,
    version: node.version,
    role: node.role,
    state: node.state,
    started_at: node.startedAt.toISOString(),
    seen_at: node.seenAt.toISOString(),
    silent_seconds: Math.floor(node.silentMs / 1_000),
    stopped_at: node.stoppedAt?.toISOString() ?? null,
    is_doubled: node.isDoubled,
    clock_skew_ms: node.clockSkewMs,
    clock_stepped_at: node.clockSteppedAt?.toISOString() ?? null,
    clock_step_ms: node.clockStepMs,
    records_waiting: node.recordsWaiting,
    open_calls: node.openCalls,
    shown_open: node.shownOpen,
    differing_settings: shared === null ? [] : [...listDifferences(node.ownSettings, shared)],
  };
}

export const nodesRoute = createRoute({
  method: 'get',
  path: '/api/v1/nodes',
  summary: 'The nodes that share the database, those seen last first',
  responses: { 200: jsonAnswer(NodeListBody, 'At most 500'), ...COMMON_ERRORS },
});

export function addNodeRoutes(app: OpenAPIHono, deps: AdminDeps): void {
  app.openapi(nodesRoute, async (c) => {
    const pool = requireDatabase(deps);
    const shared = await readSharedSettings(pool);
    const nodes = await listNodes(pool);
    return c.json({ data: nodes.map((node) => formatNode(node, deps.nodes.ownId, shared)) }, 200);
  });

  const forget = createRoute({
    method: 'delete',
    path: '/api/v1/nodes/{name}',
    summary: 'Take a node that is gone out of the list',
    description:
      'By its name or id. Its calls stay. One that still lives is refused, and one that comes back is there again.',
    request: { params: z.object({ name: z.string().min(1).max(500) }) },
    responses: {
      200: jsonAnswer(z.object({ forgotten: z.number().int() }), 'How many had that name'),
      404: errorAnswer('No node has that name'),
      409: errorAnswer('It lives'),
      ...COMMON_ERRORS,
    },
  });
  app.openapi(forget, async (c) => {
    const { name } = c.req.valid('param');
    const { forgotten, live } = await forgetNodes(requireDatabase(deps), accountOf(c), name);
    if (forgotten === 0 && live > 0)
      throw new ApiError(409, 'node_lives', 'This node has given a sign of life within 15 minutes: stop it first.');
    if (forgotten === 0)
      throw new ApiError(404, 'not_found', 'No node has that name; `tollgate nodes` and GET /api/v1/nodes list them.');
    deps.log.info({ forgotten, node: name, actor: readActor(c) }, 'nodes were taken out of the list');
    return c.json({ forgotten }, 200);
  });
}
