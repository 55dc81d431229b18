/** The limits of an account over HTTP. Those of a key are fields of the key. */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';
import type { LimitUse } from '../../vocabulary/limit.ts';
import { ALL_OTHERS, limitSubject } from '../../vocabulary/limit-subjects.ts';
import {
  deleteLimit,
  editLimit,
  insertLimit,
  type LimitStored,
  listLimits,
  type StoredLimit,
} from '../store/call-limits.ts';
import { type AdminDeps, requireDatabase } from './admin-deps.ts';
import { ApiError } from './api-error.ts';
import { formatLimit, formatUse, LimitFields, readUse, UseBody } from './limit-fields.ts';
import { accountOf } from './principal.ts';
import { COMMON_ERRORS, errorAnswer, jsonAnswer, listOf, Time } from './schemas.ts';

/** Values shown of a limit, those with the most in use. */
const SHOWN_VALUES = 10;

const MetadataKey = z
  .string()
  .trim()
  .min(1)
  .max(200)
  .regex(/^[!#$%&'*+.^_`|~\w-]+$/, 'the name of a metadata key, such as User-Id, without X-Gateway-')
  .nullable()
  .describe('The metadata key whose values are limited, each by itself; null for all calls of the account together');
const MetadataValue = z
  .string()
  .min(1)
  .max(1_000)
  .nullable()
  .describe('For this value alone, instead of the limit for each; null for each value');

const LimitBody = z
  .object({
    id: z.number().int(),
    metadata_key: MetadataKey,
    metadata_value: MetadataValue,
    ...LimitFields,
    created_at: Time,
    use: UseBody.nullable().describe('In use on this node; null where that is not known, and for limits of each value'),
    values: z
      .array(
        UseBody.extend({
          value: z.string().nullable().describe('Null: all values beyond those that are counted one by one'),
        }),
      )
      .describe('Of a limit for each value: the values of which the most is in use on this node'),
  })
  .openapi('CallLimit');

const Given = z.strictObject({ metadata_key: MetadataKey, metadata_value: MetadataValue, ...LimitFields }).partial();
const HAS_LIMIT = 'give max_concurrent, requests_per_minute or tokens_per_minute';

type GivenLimit = { readonly [Name in keyof typeof LimitFields]?: number | null | undefined };

function hasLimit(given: GivenLimit): boolean {
  return [given.max_concurrent, given.requests_per_minute, given.tokens_per_minute].some(
    (each) => typeof each === 'number',
  );
}

const NewLimitBody = Given.refine(hasLimit, HAS_LIMIT)
  .refine((given) => given.metadata_value == null || given.metadata_key != null, 'metadata_value needs metadata_key')
  .openapi('NewCallLimit');
const LimitEditBody = z
  .strictObject(LimitFields)
  .partial()
  .refine((given) => Object.values(given).some((each) => each !== undefined), HAS_LIMIT)
  .openapi('CallLimitEdit');
const IdParameter = z.object({ id: z.coerce.number().int().min(1).max(2_147_483_647) });

const NOT_FOUND = new ApiError(404, 'not_found', 'There is no limit with this id.');

export const limitsRoute = createRoute({
  method: 'get',
  path: '/api/v1/limits',
  summary: 'The limits of the account and of metadata values, and what is in use of them on this node',
  responses: { 200: jsonAnswer(listOf(LimitBody), 'All in one page'), ...COMMON_ERRORS },
});

export const createLimitRoute = createRoute({
  method: 'post',
  path: '/api/v1/limits',
  summary: 'Limit the calls of the account, or of each value of a metadata key',
  request: { body: { required: true, content: { 'application/json': { schema: NewLimitBody } } } },
  responses: {
    201: jsonAnswer(LimitBody, 'The limit; every proxy keeps it'),
    409: errorAnswer('There is one for the same calls, or there are too many'),
    ...COMMON_ERRORS,
  },
});

export const editLimitRoute = createRoute({
  method: 'patch',
  path: '/api/v1/limits/{id}',
  summary: 'Change a limit; what is left out stays as it is, and null takes it back',
  request: {
    params: IdParameter,
    body: { required: true, content: { 'application/json': { schema: LimitEditBody } } },
  },
  responses: { 200: jsonAnswer(LimitBody, 'The changed limit'), 404: errorAnswer('No such limit'), ...COMMON_ERRORS },
});

export const deleteLimitRoute = createRoute({
  method: 'delete',
  path: '/api/v1/limits/{id}',
  summary: 'Take a limit away',
  request: { params: IdParameter },
  responses: { 200: jsonAnswer(LimitBody, 'What it was'), 404: errorAnswer('No such limit'), ...COMMON_ERRORS },
});

function format(limit: StoredLimit, uses: readonly LimitUse[] | null): z.infer<typeof LimitBody> {
  const { limitId, metadataKey, metadataValue } = limit;
  const isOfEach = metadataKey !== null && metadataValue === null;
  const prefix = limitSubject(limitId, '');
  const values = isOfEach ? (uses ?? []).filter(({ subject }) => subject.startsWith(prefix)) : [];
  return {
    id: limitId,
    metadata_key: metadataKey,
    metadata_value: metadataValue,
    ...formatLimit(limit),
    created_at: new Date(limit.createdAtMs).toISOString(),
    use: isOfEach ? null : readUse(uses, limitSubject(limitId, metadataValue)),
    values: values
      .toSorted((a, b) => b.slots - a.slots || b.requests - a.requests || b.tokens - a.tokens)
      .slice(0, SHOWN_VALUES)
      .map((use) => {
        const value = use.subject.slice(prefix.length);
        return { value: value === ALL_OTHERS ? null : value, ...formatUse(use) };
      }),
  };
}

function readColumns(given: GivenLimit) {
  return {
    maxConcurrent: given.max_concurrent ?? null,
    requestsPerMinute: given.requests_per_minute ?? null,
    tokensPerMinute: given.tokens_per_minute ?? null,
  };
}

export function addLimitRoutes(app: OpenAPIHono, deps: AdminDeps): void {
  async function publish({ version, limit }: LimitStored): Promise<void> {
    if (await deps.publishKeys(version)) return;
    throw new ApiError(
      503,
      'not_confirmed',
      `The change of limit ${limit.limitId} is stored, but not every proxy process has confirmed it yet. It takes effect as soon as they do; see \`tollgate doctor\`.`,
    );
  }

  app.openapi(limitsRoute, async (c) => {
    const limits = await listLimits(requireDatabase(deps), accountOf(c));
    const uses = limits.length === 0 ? null : ((await deps.readSupervisorStatus())?.limitUse ?? null);
    return c.json({ data: limits.map((limit) => format(limit, uses)), next_cursor: null }, 200);
  });

  app.openapi(createLimitRoute, async (c) => {
    const given = c.req.valid('json');
    const stored = await insertLimit(requireDatabase(deps), {
      accountId: accountOf(c),
      metadataKey: given.metadata_key ?? null,
      metadataValue: given.metadata_value ?? null,
      ...readColumns(given),
    });
    if (stored === 'taken')
      throw new ApiError(409, 'limit_exists', 'There is a limit for these calls already; change that one.');
    if (stored === 'full') throw new ApiError(409, 'too_many_limits', 'The account has as many limits as it may.');
    await publish(stored);
    return c.json(format(stored.limit, null), 201);
  });

  app.openapi(editLimitRoute, async (c) => {
    const { id } = c.req.valid('param');
    const given = c.req.valid('json');
    const stored = await editLimit(requireDatabase(deps), accountOf(c), id, {
      maxConcurrent: given.max_concurrent,
      requestsPerMinute: given.requests_per_minute,
      tokensPerMinute: given.tokens_per_minute,
    });
    if (stored === null) throw NOT_FOUND;
    if (stored === 'none')
      throw new ApiError(400, 'invalid_request', 'Nothing would be limited any more: delete the limit instead.');
    await publish(stored);
    return c.json(format(stored.limit, null), 200);
  });

  app.openapi(deleteLimitRoute, async (c) => {
    const stored = await deleteLimit(requireDatabase(deps), accountOf(c), c.req.valid('param').id);
    if (stored === null) throw NOT_FOUND;
    await publish(stored);
    return c.json(format(stored.limit, null), 200);
  });
}
