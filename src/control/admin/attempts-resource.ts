/** The last refused attempts, each with advice. */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';
import type { RejectedAttempt } from '../../vocabulary/channel.ts';
import type { AdminDeps } from './admin-deps.ts';
import { ApiError } from './api-error.ts';
import { judgeAttempt } from './attempt-verdict.ts';
import { COMMON_ERRORS, jsonAnswer, Time } from './schemas.ts';

const AttemptBody = z
  .object({
    at: Time,
    code: z.string().describe('As in X-Gateway-Error'),
    status: z.number().int(),
    method: z.string(),
    path: z.string(),
    provider: z.string().nullable(),
    user_agent: z.string().nullable(),
    client_address: z.string().nullable().describe('IP address of the client; null when addresses are not kept'),
    verdict: z.string().describe('What to do about it, for people'),
  })
  .openapi('Attempt');

export type Attempt = z.infer<typeof AttemptBody>;

const AttemptsBody = z.object({
  data: z.array(AttemptBody).describe('At most 100, the newest first'),
  next_cursor: z.null(),
  not_shown: z.number().int().describe('Refused attempts that were not kept'),
});

export function formatAttempt(attempt: RejectedAttempt, baseUrl: string): Attempt {
  return {
    at: new Date(attempt.atMs).toISOString(),
    code: attempt.code,
    status: attempt.status,
    method: attempt.method,
    path: attempt.path,
    provider: attempt.provider,
    user_agent: attempt.userAgent,
    client_address: attempt.clientAddress ?? null,
    verdict: judgeAttempt(attempt, baseUrl),
  };
}

export function addAttemptRoutes(app: OpenAPIHono, deps: AdminDeps): void {
  const attempts = createRoute({
    method: 'get',
    path: '/api/v1/attempts',
    summary: 'The last refused attempts, with reasons: why does nothing arrive?',
    responses: { 200: jsonAnswer(AttemptsBody, 'Newest first'), ...COMMON_ERRORS },
  });
  app.openapi(attempts, async (c) => {
    const status = await deps.readSupervisorStatus();
    if (status === null) throw new ApiError(503, 'supervisor_unavailable', 'The supervisor process does not answer.');
    const data = status.attempts.toReversed().map((attempt) => formatAttempt(attempt, deps.baseUrl));
    return c.json({ data, next_cursor: null, not_shown: status.attemptsNotShown }, 200);
  });
}
