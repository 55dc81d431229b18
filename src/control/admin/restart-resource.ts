/** Asks the supervisor to replace the processes without a refused connection. */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';
import type { AdminDeps } from './admin-deps.ts';
import { ApiError } from './api-error.ts';
import { COMMON_ERRORS, jsonAnswer } from './schemas.ts';

export const RestartBody = z
  .object({
    requested: z.number().int().describe('The number of the last restart that was asked for; 0 for none'),
    finished: z.number().int().describe('The number of the last one that is over'),
    problem: z.string().nullable().describe('Why that one did not replace everything; null when it did'),
  })
  .openapi('Restart');

export function addRestartRoute(app: OpenAPIHono, deps: AdminDeps): void {
  const restart = createRoute({
    method: 'post',
    path: '/api/v1/restart',
    summary: 'Replace the proxy processes one by one, then the control process, which this API is a part of',
    description:
      'No connection to the proxy is refused. A process that is replaced ends with its open calls, after TOLLGATE_DRAIN_SECONDS at the latest. It is over when `restart.finished` of GET /api/v1/status has reached `requested`.',
    responses: {
      202: jsonAnswer(RestartBody, 'It goes on by itself; one that is under way is followed by another'),
      ...COMMON_ERRORS,
    },
  });
  app.openapi(restart, async (c) => {
    const status = await deps.requestRestart();
    if (status === null) throw new ApiError(503, 'supervisor_unavailable', 'The supervisor process does not answer.');
    if (status.finished >= status.requested)
      throw new ApiError(409, 'not_restarted', 'The gateway is starting or stopping; ask again when it runs.');
    deps.log.info({ restart: status.requested }, 'a restart was asked for');
    return c.json(status, 202);
  });
}
