/** Metadata keys over HTTP: what is sent, and promoting and demoting a key. */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';
import type { MiddlewareHandler } from 'hono';
import { FEW_VALUES_AN_HOUR, LEAST_CALLS_A_VALUE, MAX_ROLLED_UP_KEYS, MAX_VALUES_AN_HOUR } from '../log/fold-facets.ts';
import { readIndexBytes } from '../log/index-job.ts';
import { isMetadataKey, type KeyChange, requestDemotion, requestPromotion } from '../metadata/key-store.ts';
import { KEY_STATES, KEY_WARNINGS, listMetadataKeys, type MetadataKey } from '../metadata/list-keys.ts';
import { SAMPLED_CALLS } from '../metadata/sample-keys.ts';
import { type AdminDeps, requireDatabase } from './admin-deps.ts';
import { ApiError } from './api-error.ts';
import { accountOf } from './principal.ts';
import { COMMON_ERRORS, errorAnswer, jsonAnswer, Time, TimeParameter, toDate } from './schemas.ts';

const USUAL_RANGE_MS = 7 * 86_400_000;

export const MetadataKeyBody = z
  .object({
    key: z.string().describe('The spelling to show: that of the promotion, else the most sent with capitals'),
    spellings: z.array(z.object({ spelling: z.string(), calls: z.number().int() })).describe('As received, most first'),
    calls: z.number().int().describe('Calls of the range that have it'),
    share: z.number().describe('Of all calls of the range, 0 to 1'),
    distinct_values: z.number().int().describe('Of the sampled calls'),
    examples: z
      .array(z.object({ value: z.string(), calls: z.number().int() }))
      .describe('Of the sampled calls, at most 5'),
    first_seen: Time.nullable().describe('Of the whole log; beginning of the hour'),
    last_seen: Time.nullable(),
    average_length: z.number().nullable().describe('Characters, of the sampled calls'),
    state: z.enum(KEY_STATES),
    promoted_at: Time.nullable(),
    job_id: z.number().int().nullable().describe('The job that promotes or demotes it, or did so last'),
    is_wide: z
      .boolean()
      .describe(
        `Without sums by hour, so that sums by it read calls: it had more than ${MAX_VALUES_AN_HOUR} values in an hour, or more than ${FEW_VALUES_AN_HOUR} with fewer than ${LEAST_CALLS_A_VALUE} calls each; or the account has more than ${MAX_ROLLED_UP_KEYS} keys`,
      ),
    warnings: z.array(z.enum(KEY_WARNINGS)),
  })
  .openapi('MetadataKey');
export type MetadataKeyBody = z.infer<typeof MetadataKeyBody>;

export const MetadataKeysBody = z.object({
  data: z.array(MetadataKeyBody).describe('At most 500, those of most calls first'),
  next_cursor: z.null(),
  total_calls: z.number().int().describe('All calls of the range'),
  sampled_calls: z.number().int().describe(`The latest of them, at most ${SAMPLED_CALLS}, whose values were looked at`),
  index_bytes: z.number().int().describe('Size of the index by which calls are found, with every key of every account'),
});
export type MetadataKeysBody = z.infer<typeof MetadataKeysBody>;

const StartedJobBody = z.object({ job_id: z.number().int() });

const RangeQuery = z.strictObject({
  from: TimeParameter.optional().describe('Default: 7 days ago; rounded down to the hour'),
  to: TimeParameter.optional().describe('Default: now; rounded up to the hour for what is counted'),
});

const KeyText = z
  .string()
  .refine(isMetadataKey, 'a metadata key is the name of a header, without its prefix, at most 128 characters');
const KeyParameter = z.object({ key: KeyText.describe('In any case: keys have none') });
const PromotionBody = z.strictObject({
  display_key: KeyText.optional().describe('The spelling to keep it under; by default that of the path'),
});

/** Many clients declare an absent body as JSON, so the type is removed. */
const withoutEmptyBody: MiddlewareHandler = async (c, next) => {
  const { method, url, headers: given } = c.req.raw;
  if ((given.get('content-length') ?? '0') === '0' && given.get('transfer-encoding') === null) {
    const headers = new Headers(given);
    headers.delete('content-type');
    c.req.raw = new Request(url, { method, headers });
  }
  await next();
};

function formatKey(key: MetadataKey): MetadataKeyBody {
  return {
    key: key.key,
    spellings: key.spellings.map((spelling) => ({ ...spelling })),
    calls: key.calls,
    share: key.share,
    distinct_values: key.distinctValues,
    examples: key.examples.map((example) => ({ ...example })),
    first_seen: key.firstSeen?.toISOString() ?? null,
    last_seen: key.lastSeen?.toISOString() ?? null,
    average_length: key.averageLength,
    state: key.state,
    promoted_at: key.promotedAt?.toISOString() ?? null,
    job_id: key.jobId,
    is_wide: key.isWide,
    warnings: [...key.warnings],
  };
}

function jobIdOf(change: KeyChange): number {
  if (change.type === 'accepted') return change.jobId;
  switch (change.reason) {
    case 'already_promoted':
      throw new ApiError(409, 'already_promoted', 'This key is promoted.');
    case 'not_promoted':
      throw new ApiError(409, 'not_promoted', 'This key is not promoted.');
    case 'other_spelling':
      throw new ApiError(
        409,
        'other_spelling',
        'This key is kept under another spelling; demote it first to change that.',
      );
    case 'busy':
      throw new ApiError(409, 'job_running', 'The key is being promoted; cancel that job first.');
  }
}

export const metadataKeysRoute = createRoute({
  method: 'get',
  path: '/api/v1/metadata-keys',
  summary: 'The metadata keys that are sent, and those that are promoted',
  request: { query: RangeQuery },
  responses: { 200: jsonAnswer(MetadataKeysBody, 'All in one page'), ...COMMON_ERRORS },
});

export const promoteKeyRoute = createRoute({
  method: 'post',
  path: '/api/v1/metadata-keys/{key}/promote',
  summary: 'Index a metadata key: new calls at once, older ones by a job',
  middleware: withoutEmptyBody,
  request: {
    params: KeyParameter,
    body: { required: false, content: { 'application/json': { schema: PromotionBody } } },
  },
  responses: {
    202: jsonAnswer(StartedJobBody, 'The job under way; asked again it is the same'),
    409: errorAnswer('Promoted before, or under another spelling'),
    ...COMMON_ERRORS,
  },
});

export const demoteKeyRoute = createRoute({
  method: 'post',
  path: '/api/v1/metadata-keys/{key}/demote',
  summary: 'Undo a promotion; questions read the raw metadata again at once',
  request: { params: KeyParameter },
  responses: {
    202: jsonAnswer(StartedJobBody, 'The job under way; asked again it is the same'),
    409: errorAnswer('Not promoted, or being promoted'),
    ...COMMON_ERRORS,
  },
});

export function addMetadataKeyRoutes(app: OpenAPIHono, deps: AdminDeps): void {
  app.openapi(metadataKeysRoute, async (c) => {
    const query = c.req.valid('query');
    const to = toDate(query.to) ?? new Date(deps.nowMs());
    const from = toDate(query.from) ?? new Date(to.getTime() - USUAL_RANGE_MS);
    const found = await listMetadataKeys(requireDatabase(deps), accountOf(c), from, to);
    return c.json(
      {
        data: found.keys.map(formatKey),
        next_cursor: null,
        total_calls: found.totalCalls,
        sampled_calls: found.sampledCalls,
        index_bytes: await readIndexBytes(requireDatabase(deps)),
      },
      200,
    );
  });

  app.openapi(promoteKeyRoute, async (c) => {
    const { key } = c.req.valid('param');
    const { display_key: displayKey } = c.req.valid('json');
    if (displayKey !== undefined && displayKey.toLowerCase() !== key.toLowerCase())
      throw new ApiError(400, 'invalid_request', 'display_key must be a spelling of the same key.');
    const change = await requestPromotion(requireDatabase(deps), accountOf(c), key, displayKey ?? null);
    return c.json({ job_id: jobIdOf(change) }, 202);
  });

  app.openapi(demoteKeyRoute, async (c) => {
    const change = await requestDemotion(requireDatabase(deps), accountOf(c), c.req.valid('param').key);
    return c.json({ job_id: jobIdOf(change) }, 202);
  });
}
