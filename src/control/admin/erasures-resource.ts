/** Erasure over HTTP: what one run's or one user's calls say is erased, and what they cost stays. */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';
import { listErasures, requestErasure } from '../erasure/erasure-store.ts';
import { isMetadataKey } from '../metadata/key-store.ts';
import { type AdminDeps, requireDatabase } from './admin-deps.ts';
import { accountOf } from './principal.ts';
import { readActor } from './read-actor.ts';
import { COMMON_ERRORS, jsonAnswer, listOf, Time } from './schemas.ts';

const DryRun = z.boolean().default(true).describe('Only count the calls, and change nothing');
const Text = z
  .string()
  .min(1)
  .max(4_096)
  .refine((text) => !text.includes('\0'), 'has no U+0000');

const NewBody = z
  .union([
    z.strictObject({ trace_id: Text.describe('The run'), dry_run: DryRun }),
    z.strictObject({
      metadata_key: z.string().refine(isMetadataKey, 'is a metadata key, such as User'),
      value: Text.describe('As the calls have it'),
      dry_run: DryRun,
    }),
  ])
  .openapi('NewErasure');

const ErasureBody = z
  .object({
    id: z.number().int(),
    kind: z.enum(['run', 'metadata']),
    metadata_key: z.string().nullable().describe('In lower case; null for a run'),
    target_sha256: z.string().describe('SHA-256 of the trace id or value, which is not kept itself'),
    dry_run: z.boolean(),
    asked_at: Time.describe('Calls of later are not meant'),
    asked_by: z.string(),
    job_id: z.number().int().nullable(),
    calls: z.number().int().describe('Erased so far, or counted'),
    ended_at: Time.nullable().describe('Null while the job is not done'),
  })
  .openapi('Erasure');

export const eraseRoute = createRoute({
  method: 'post',
  path: '/api/v1/erasures',
  summary: 'Erase what one run’s or one user’s calls say; a dry run unless told otherwise',
  request: { body: { required: true, content: { 'application/json': { schema: NewBody } } } },
  responses: {
    202: jsonAnswer(z.object({ id: z.number().int(), job_id: z.number().int() }), 'The job under way'),
    ...COMMON_ERRORS,
  },
});

export const erasuresRoute = createRoute({
  method: 'get',
  path: '/api/v1/erasures',
  summary: 'What was erased, the newest first',
  responses: { 200: jsonAnswer(listOf(ErasureBody), 'All in one page, at most 500'), ...COMMON_ERRORS },
});

export function addErasureRoutes(app: OpenAPIHono, deps: AdminDeps): void {
  app.openapi(eraseRoute, async (c) => {
    const body = c.req.valid('json');
    const target =
      'trace_id' in body
        ? ({ kind: 'run', traceId: body.trace_id } as const)
        : ({ kind: 'metadata', key: body.metadata_key, value: body.value } as const);
    const asked = { by: readActor(c), isDryRun: body.dry_run };
    const { id, jobId } = await requestErasure(requireDatabase(deps), accountOf(c), target, asked);
    return c.json({ id, job_id: jobId }, 202);
  });

  app.openapi(erasuresRoute, async (c) => {
    const erasures = await listErasures(requireDatabase(deps), accountOf(c));
    const data = erasures.map(({ id, kind, key, targetHash, isDryRun, askedAt, askedBy, jobId, calls, endedAt }) => ({
      id,
      kind,
      metadata_key: key,
      target_sha256: targetHash,
      dry_run: isDryRun,
      asked_at: askedAt.toISOString(),
      asked_by: askedBy,
      job_id: jobId,
      calls,
      ended_at: endedAt?.toISOString() ?? null,
    }));
    return c.json({ data, next_cursor: null }, 200);
  });
}
