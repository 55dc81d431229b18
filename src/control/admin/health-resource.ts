/** Whether the process works, and whether the API does: asked by balancers and orchestrators, without a credential. */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';
import type { AdminDeps } from './admin-deps.ts';
import { isDatabaseUp } from './database-answer.ts';
import { jsonAnswer } from './schemas.ts';

const HealthBody = z
  .object({
    status: z.enum(['ok', 'degraded']),
    database: z.enum(['up', 'down']),
    problem: z.string().nullable().describe('As in `GET /api/v1/status`'),
  })
  .openapi('Health');

export function addHealthRoutes(app: OpenAPIHono, deps: AdminDeps): void {
  const health = createRoute({
    method: 'get',
    path: '/healthz',
    summary: 'The process works',
    security: [],
    responses: { 200: jsonAnswer(z.object({ status: z.literal('ok') }), 'It does') },
  });
  app.openapi(health, (c) => c.json({ status: 'ok' as const }, 200));

  const ready = createRoute({
    method: 'get',
    path: '/readyz',
    summary: 'The API works; `degraded` while the database does not answer',
    security: [],
    responses: {
      200: jsonAnswer(HealthBody, 'It does'),
      503: jsonAnswer(z.object({ status: z.literal('stopping') }), 'It does, and the gateway is about to stop'),
    },
  });
  app.openapi(ready, async (c) => {
    if (deps.isStopping()) return c.json({ status: 'stopping' as const }, 503);
    const isUp = await isDatabaseUp(deps);
    const [status, database] = isUp ? (['ok', 'up'] as const) : (['degraded', 'down'] as const);
    return c.json({ status, database, problem: deps.databaseProblem() }, 200);
  });
}
