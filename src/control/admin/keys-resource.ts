/** Gateway keys over HTTP. A key is shown once, when created; a change is answered when all proxies have it. */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';
import { createGatewayKey, digestKey, keyHints } from '../../keys/gateway-key.ts';
import { isRunSource, KEYED_RUN_SOURCES, MAX_RUN_SOURCES, PLAIN_RUN_SOURCES } from '../../vocabulary/run-sources.ts';
import { type KeyUsage, NO_USAGE, readKeyUsage } from '../log/key-usage.ts';
import { isDatabaseDown } from '../store/database-error.ts';
import {
  editKey,
  insertKey,
  isKeyKnown,
  type KeyStored,
  listKeys,
  revokeKey,
  rotateKey,
  type StoredKey,
} from '../store/gateway-keys.ts';
import { type AdminDeps, requireDatabase } from './admin-deps.ts';
import { ApiError } from './api-error.ts';
import { createPacedQuery } from './paced-query.ts';
import { accountOf } from './principal.ts';
import { COMMON_ERRORS, errorAnswer, jsonAnswer, listOf, Money, Time } from './schemas.ts';

/** 90 days. */
const MAX_OVERLAP_SECONDS = 7_776_000;
const USAGE_LIMIT_MS = 2_000;

const Policy = {
  usage: z.enum(['ask', 'observe']).nullable().describe('Override of the setting `usage`; null as the deployment'),
  bodies: z.enum(['full', 'off']).nullable().describe('Override of the setting `bodies`; null as the deployment'),
} as const;

const AllowInAddress = z
  .boolean()
  .describe(
    'Whether the key may stand in a client’s base address, as `http://gateway/@KEY/v1`; it may get into shell histories and the logs of what is in front of the gateway then',
  );

const RunsFrom = z
  .array(
    z
      .string()
      .refine(
        isRunSource,
        `a source is one of ${PLAIN_RUN_SOURCES.join(', ')}, or ${KEYED_RUN_SOURCES.map((name) => `${name}.KEY`).join(', ')}`,
      ),
  )
  .max(MAX_RUN_SOURCES)
  .describe(
    'Where the run of a call comes from when it has no X-Gateway-Trace-Id: the first of these that the call has. `agents`: the session that a known client names; empty: from nowhere, the call is in no run',
  );

const KeyName = z
  .string()
  .trim()
  .min(1)
  .max(200)
  .regex(/^\P{Cc}*$/u, 'without control characters')
  .describe('Whom it is for');

const KeyBody = z
  .object({
    id: z.number().int(),
    name: z.string(),
    prefix: z.string().describe('First characters of the key'),
    last4: z.string().describe('Last characters of the key'),
    created_at: Time,
    last_used_at: Time.nullable().describe('Latest call with it, about a minute late; null when never used'),
    revoked_at: Time.nullable(),
    expires_at: Time.nullable(),
    ...Policy,
    allow_in_address: AllowInAddress,
    runs_from: RunsFrom,
  })
  .openapi('Key');

const UsageFields = {
  calls_24h: z.number().int().nullable().describe('Calls of the last 24 hours; null when the database took too long'),
  cost_24h: Money.nullable().describe('Of these, what is known'),
  unpriced_calls_24h: z.number().int().nullable().describe('Calls without a total: while there are any, "at least"'),
  calls_30d: z.number().int().nullable().describe('The same of the last 30 days'),
  cost_30d: Money.nullable(),
  unpriced_calls_30d: z.number().int().nullable(),
} as const;

const ListedKeyBody = KeyBody.extend(UsageFields).openapi('ListedKey');

const RotationBody = z
  .strictObject({
    overlap_seconds: z
      .number()
      .int()
      .min(0)
      .max(MAX_OVERLAP_SECONDS)
      .default(0)
      .describe('How long the old key goes on working; 0: it is revoked at once'),
  })
  .openapi('Rotation');

const CreatedKeyBody = KeyBody.extend({ key: z.string().describe('The key itself; it is never shown again') }).openapi(
  'CreatedKey',
);

export type Key = z.infer<typeof KeyBody>;
export type ListedKey = z.infer<typeof ListedKeyBody>;
export type CreatedKey = z.infer<typeof CreatedKeyBody>;

const NewKeyBody = z
  .strictObject({
    name: KeyName,
    expires_at: z.iso.datetime({ offset: true }).optional().describe('When it stops being valid by itself'),
    usage: Policy.usage.optional(),
    bodies: Policy.bodies.optional(),
    allow_in_address: AllowInAddress.optional(),
    runs_from: RunsFrom.optional(),
  })
  .openapi('NewKey');

const KeyEditBody = z
  .strictObject({
    name: KeyName.optional(),
    usage: Policy.usage.optional(),
    bodies: Policy.bodies.optional(),
    allow_in_address: AllowInAddress.optional(),
    runs_from: RunsFrom.optional(),
  })
  .openapi('KeyEdit');

const IdParameter = z.object({ id: z.coerce.number().int().min(1).max(2_147_483_647) });

function toTime(timeMs: number | null): string | null {
  return timeMs === null ? null : new Date(timeMs).toISOString();
}

function formatKey(key: StoredKey): Key {
  return {
    id: key.keyId,
    name: key.name,
    prefix: key.prefix,
    last4: key.last4,
    created_at: new Date(key.createdAtMs).toISOString(),
    last_used_at: toTime(key.lastUsedAtMs),
    revoked_at: toTime(key.revokedAtMs),
    expires_at: toTime(key.expiresAtMs),
    usage: key.usage,
    bodies: key.bodies,
    allow_in_address: key.allowInAddress,
    runs_from: [...key.runsFrom],
  };
}

/** `usage` null is unknown; a key without calls has zeros. */
function formatListedKey(key: StoredKey, usage: ReadonlyMap<number, KeyUsage> | null): ListedKey {
  const own = usage === null ? null : (usage.get(key.keyId) ?? NO_USAGE);
  return {
    ...formatKey(key),
    calls_24h: own?.day.calls ?? null,
    cost_24h: own?.day.cost ?? null,
    unpriced_calls_24h: own?.day.unpricedCalls ?? null,
    calls_30d: own?.month.calls ?? null,
    cost_30d: own?.month.cost ?? null,
    unpriced_calls_30d: own?.month.unpricedCalls ?? null,
  };
}

const NOT_FOUND = new ApiError(404, 'key_not_found', 'There is no gateway key with this id.');
const EDITS_REVOKED = new ApiError(409, 'key_revoked', 'A revoked key cannot be changed.');

async function publish(deps: AdminDeps, stored: KeyStored): Promise<void> {
  if (await deps.publishKeys(stored.version)) return;
  throw new ApiError(
    503,
    'not_confirmed',
    `The change of key ${stored.key.keyId} is stored, but not every proxy process has confirmed it yet. It takes effect as soon as they do; see \`tollgate doctor\`.`,
  );
}

export const createKeyRoute = createRoute({
  method: 'post',
  path: '/api/v1/keys',
  summary: 'Create a gateway key',
  request: { body: { required: true, content: { 'application/json': { schema: NewKeyBody } } } },
  responses: { 201: jsonAnswer(CreatedKeyBody, 'The key, shown once; every proxy accepts it'), ...COMMON_ERRORS },
});

export const keysRoute = createRoute({
  method: 'get',
  path: '/api/v1/keys',
  summary: 'All gateway keys, revoked ones too, the oldest first',
  responses: { 200: jsonAnswer(listOf(ListedKeyBody), 'All in one page'), ...COMMON_ERRORS },
});

export const editKeyRoute = createRoute({
  method: 'patch',
  path: '/api/v1/keys/{id}',
  summary: 'Change a gateway key; what is left out stays as it is',
  request: { params: IdParameter, body: { required: true, content: { 'application/json': { schema: KeyEditBody } } } },
  responses: {
    200: jsonAnswer(KeyBody, 'The changed key; every proxy of this node has it, and those of others within a second'),
    404: errorAnswer('No such key'),
    409: errorAnswer('The key was revoked before'),
    ...COMMON_ERRORS,
  },
});

export const revokeKeyRoute = createRoute({
  method: 'delete',
  path: '/api/v1/keys/{id}',
  summary: 'Revoke a gateway key; revoking again changes nothing',
  request: { params: IdParameter },
  responses: {
    200: jsonAnswer(
      KeyBody,
      'The revoked key; no proxy of this node accepts it any more, and those of other nodes within a second',
    ),
    404: errorAnswer('No such key'),
    ...COMMON_ERRORS,
  },
});

export const rotateKeyRoute = createRoute({
  method: 'post',
  path: '/api/v1/keys/{id}/rotate',
  summary: 'Replace a gateway key by a new one of the same name, settings and length of life',
  request: { params: IdParameter, body: { content: { 'application/json': { schema: RotationBody } } } },
  responses: {
    201: jsonAnswer(CreatedKeyBody, 'The new key, shown once; the old one ends after the overlap'),
    404: errorAnswer('No such key'),
    409: errorAnswer('The key was revoked before'),
    ...COMMON_ERRORS,
  },
});

export function addKeyRoutes(app: OpenAPIHono, deps: AdminDeps): void {
  const readUsage = createPacedQuery(async (pool, accountId) => {
    try {
      return await readKeyUsage(pool, accountId, deps.nowMs(), USAGE_LIMIT_MS);
    } catch (error) {
      // A busy database must not hold up the list of keys.
      if (!isDatabaseDown(error)) deps.log.debug({ err: error }, 'the usage of keys could not be read in time');
      return null;
    }
  });

  app.openapi(createKeyRoute, async (c) => {
    const { name, expires_at, usage, bodies, allow_in_address, runs_from } = c.req.valid('json');
    const expiresAtMs = expires_at === undefined ? null : Date.parse(expires_at);
    const key = createGatewayKey();
    const stored = await insertKey(requireDatabase(deps), {
      accountId: accountOf(c),
      name,
      digest: digestKey(key),
      ...keyHints(key),
      expiresAtMs,
      usage: usage ?? null,
      bodies: bodies ?? null,
      allowInAddress: allow_in_address ?? false,
      runsFrom: runs_from ?? [],
    });
    await publish(deps, stored);
    return c.json({ ...formatKey(stored.key), key }, 201);
  });

  app.openapi(keysRoute, async (c) => {
    const pool = requireDatabase(deps);
    const [keys, usage] = await Promise.all([listKeys(pool, accountOf(c)), readUsage(pool, accountOf(c))]);
    return c.json({ data: keys.map((key) => formatListedKey(key, usage)), next_cursor: null }, 200);
  });

  app.openapi(editKeyRoute, async (c) => {
    const pool = requireDatabase(deps);
    const { id } = c.req.valid('param');
    const { allow_in_address: allowInAddress, runs_from: runsFrom, name, usage, bodies } = c.req.valid('json');
    const stored = await editKey(pool, accountOf(c), id, { name, usage, bodies, allowInAddress, runsFrom });
    if (stored === null) throw (await isKeyKnown(pool, accountOf(c), id)) ? EDITS_REVOKED : NOT_FOUND;
    await publish(deps, stored);
    return c.json(formatKey(stored.key), 200);
  });

  app.openapi(revokeKeyRoute, async (c) => {
    const stored = await revokeKey(requireDatabase(deps), accountOf(c), c.req.valid('param').id);
    if (stored === null) throw NOT_FOUND;
    await publish(deps, stored);
    return c.json(formatKey(stored.key), 200);
  });

  app.openapi(rotateKeyRoute, async (c) => {
    const { id } = c.req.valid('param');
    const { overlap_seconds } = RotationBody.parse(c.req.valid('json'));
    const key = createGatewayKey();
    const secret = { digest: digestKey(key), ...keyHints(key) };
    const stored = await rotateKey(requireDatabase(deps), accountOf(c), id, secret, overlap_seconds);
    if (stored === 'unknown') throw NOT_FOUND;
    if (stored === 'revoked')
      throw new ApiError(409, 'key_revoked', 'A revoked key cannot be rotated; create a new one.');
    await publish(deps, stored);
    return c.json({ ...formatKey(stored.key), key }, 201);
  });
}
