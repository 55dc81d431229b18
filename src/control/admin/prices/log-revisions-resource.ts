/** The history of a call's cost. */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';
import { readLog } from '../../log/read-log.ts';
import { listRevisions } from '../../prices/reprice/list-revisions.ts';
import { type AdminDeps, requireDatabase } from '../admin-deps.ts';
import { IdParameter, LOG_NOT_FOUND } from '../logs-resource.ts';
import { accountOf } from '../principal.ts';
import { COMMON_ERRORS, errorAnswer, jsonAnswer, Money, Time } from '../schemas.ts';

const Version = z.string().nullable().describe('Of the price book');
const Model = z.string().nullable();

const CostRevisionBody = z
  .object({
    job_id: z.number().int().describe('The job that priced it again'),
    revised_at: Time,
    reason: z.string().describe('As given to the job'),
    old_price_version: Version,
    new_price_version: Version,
    old_billing_model: Model,
    new_billing_model: Model,
    old_cost_status: z.string(),
    new_cost_status: z.string(),
    old_total_cost: Money.nullable(),
    new_total_cost: Money.nullable(),
    old_known_cost: Money.nullable(),
    new_known_cost: Money.nullable(),
    old_cost_lines: z.unknown().describe('How the cost before was worked out, as `cost_lines` of a call'),
  })
  .openapi('CostRevision');
export type CostRevisionBody = z.infer<typeof CostRevisionBody>;

const RevisionsBody = z.object({
  data: z.array(CostRevisionBody).describe('The newest first; empty when the cost is the first one'),
  next_cursor: z.null(),
});

export const revisionsRoute = createRoute({
  method: 'get',
  path: '/api/v1/logs/{id}/revisions',
  summary: 'What the cost of a call was before it was priced again',
  request: { params: IdParameter },
  responses: {
    200: jsonAnswer(RevisionsBody, 'All in one page'),
    404: errorAnswer('No such call'),
    ...COMMON_ERRORS,
  },
});

export function addRevisionRoute(app: OpenAPIHono, deps: AdminDeps): void {
  app.openapi(revisionsRoute, async (c) => {
    const pool = requireDatabase(deps);
    const { id } = c.req.valid('param');
    const revisions = await listRevisions(pool, accountOf(c), id);
    if (revisions.length === 0 && (await readLog(pool, accountOf(c), id)) === null) throw LOG_NOT_FOUND;
    return c.json({ data: revisions, next_cursor: null }, 200);
  });
}
