/** Requests the comparison of roll-ups with records, whose outcome is the job's result. */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';
import { requestVerify } from '../log/verify-job.ts';
import { FIRST_ACCOUNT_ID } from '../store/accounts.ts';
import { type AdminDeps, requireDatabase } from './admin-deps.ts';
import { COMMON_ERRORS, jsonAnswer } from './schemas.ts';

export function addVerifyRoute(app: OpenAPIHono, deps: AdminDeps): void {
  const verify = createRoute({
    method: 'post',
    path: '/api/v1/verify',
    summary: 'Compare every roll-up with the records it is made of, by a job that changes nothing',
    responses: {
      202: jsonAnswer(
        z.object({ job_id: z.number().int() }),
        'The job under way; its result has the number of `differences` and the first of them as `shown`',
      ),
      ...COMMON_ERRORS,
    },
  });
  app.openapi(verify, async (c) =>
    c.json({ job_id: await requestVerify(requireDatabase(deps), FIRST_ACCOUNT_ID) }, 202),
  );
}
