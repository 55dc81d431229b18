/** Run tokens over HTTP. A token is shown once, when made; a change is answered when all proxies of this node have it. */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';
import type pg from 'pg';
import { createRunToken, digestKey } from '../../keys/gateway-key.ts';
import { listKeys, readKeyByDigest } from '../store/gateway-keys.ts';
import {
  insertRunToken,
  listRunTokens,
  MAX_LIVE_RUN_TOKENS,
  type RunTokenStored,
  readRunToken,
  renewRunToken,
  revokeRunToken,
  type StoredRunToken,
} from '../store/run-tokens.ts';
import { type AdminDeps, requireDatabase } from './admin-deps.ts';
import { ApiError } from './api-error.ts';
import { accountOf } from './principal.ts';
import {
  MAX_TTL_SECONDS,
  NewRunTokenBody,
  RenewedRunTokenBody,
  type RunToken,
  RunTokenBody,
} from './run-token-bodies.ts';
import { COMMON_ERRORS, errorAnswer, jsonAnswer, listOf } from './schemas.ts';

const IdParameter = z.object({ id: z.coerce.number().int().min(1).max(Number.MAX_SAFE_INTEGER) });

const CreatedRunTokenBody = RunTokenBody.extend({
  token: z.string().describe('The token itself; it is never shown again'),
  address: z
    .string()
    .describe(
      'The base address with the token in it: `http://gateway/@TOKEN`. A provider may be named behind it: `@TOKEN.together`',
    ),
}).openapi('CreatedRunToken');

const NOT_FOUND = new ApiError(404, 'run_token_not_found', 'There is no run token with this id, or it ended long ago.');
const KEY_UNUSABLE = new ApiError(
  409,
  'key_unusable',
  'There is no such gateway key, or it was revoked or has expired.',
);

function formatRunToken(token: StoredRunToken, nowMs: number): RunToken {
  const endedAtMs = token.revokedAtMs ?? (token.expiresAtMs <= nowMs ? token.expiresAtMs : null);
  return {
    id: token.tokenId,
    name: token.name,
    key_id: token.keyId,
    trace_id: token.traceId,
    span_path: token.spanPath,
    provider: token.provider,
    provider_alias: token.providerAlias,
    metadata: Object.fromEntries(token.metadata),
    created_at: new Date(token.createdAtMs).toISOString(),
    expires_at: new Date(token.expiresAtMs).toISOString(),
    ended_at: endedAtMs === null ? null : new Date(endedAtMs).toISOString(),
  };
}

async function publish(deps: AdminDeps, { version, token }: RunTokenStored): Promise<void> {
  if (await deps.publishKeys(version)) return;
  throw new ApiError(
    503,
    'not_confirmed',
    `The change of run token ${token.tokenId} is stored, but not every proxy process has confirmed it yet. It takes effect as soon as they do; see \`tollgate doctor\`.`,
  );
}

/** The key that is named by its id or itself; the only usable one where none is named. */
async function findKeyId(
  pool: pg.Pool,
  accountId: number,
  nowMs: number,
  named: { readonly key_id?: number | undefined; readonly key?: string | undefined },
): Promise<number> {
  if (named.key_id !== undefined) return named.key_id;
  if (named.key !== undefined) {
    const key = await readKeyByDigest(pool, accountId, digestKey(named.key));
    if (key === null) throw KEY_UNUSABLE;
    return key.keyId;
  }
  const usable = (await listKeys(pool, accountId)).filter(
    ({ revokedAtMs, expiresAtMs }) => revokedAtMs === null && (expiresAtMs === null || expiresAtMs > nowMs),
  );
  const [only, ...others] = usable;
  if (only !== undefined && others.length === 0) return only.keyId;
  const names = usable.slice(0, 10).map(({ keyId, name }) => `${keyId} (${name})`);
  const choice = names.length === 0 ? 'there is none: `tollgate keys create NAME` makes one' : names.join(', ');
  throw new ApiError(400, 'key_required', `Say which key the calls are to count for: ${choice}.`);
}

export const createRunTokenRoute = createRoute({
  method: 'post',
  path: '/api/v1/run-tokens',
  summary: 'Make a run token: a key and a run in a base address, for a time',
  description:
    'It stands for the key and the run in front of any path (`http://gateway/@TOKEN/v1/…`), or in `X-Gateway-Key`. `X-Gateway-*` headers of a call win over it. It ends with its time, with its key, or when it is ended; open streams end with it.',
  request: { body: { required: true, content: { 'application/json': { schema: NewRunTokenBody } } } },
  responses: {
    201: jsonAnswer(
      CreatedRunTokenBody,
      'The token, shown once; the proxies of this node accept it, and those of others within a second',
    ),
    409: errorAnswer('The key cannot be used, or there are too many run tokens'),
    ...COMMON_ERRORS,
  },
});

export const runTokensRoute = createRoute({
  method: 'get',
  path: '/api/v1/run-tokens',
  summary: 'Run tokens, the newest first: those that are valid, and those that ended within a day',
  responses: { 200: jsonAnswer(listOf(RunTokenBody), 'All in one page'), ...COMMON_ERRORS },
});

export const runTokenRoute = createRoute({
  method: 'get',
  path: '/api/v1/run-tokens/{id}',
  summary: 'One run token',
  request: { params: IdParameter },
  responses: { 200: jsonAnswer(RunTokenBody, 'The token'), 404: errorAnswer('No such token'), ...COMMON_ERRORS },
});

export const renewRunTokenRoute = createRoute({
  method: 'patch',
  path: '/api/v1/run-tokens/{id}',
  summary: 'Give a run token more time, from now, also when its time is over; 30 days in all',
  request: {
    params: IdParameter,
    body: { required: true, content: { 'application/json': { schema: RenewedRunTokenBody } } },
  },
  responses: {
    200: jsonAnswer(RunTokenBody, 'The token'),
    404: errorAnswer('No such token'),
    409: errorAnswer('It was ended'),
    ...COMMON_ERRORS,
  },
});

export const endRunTokenRoute = createRoute({
  method: 'delete',
  path: '/api/v1/run-tokens/{id}',
  summary: 'End a run token; ending it again changes nothing',
  request: { params: IdParameter },
  responses: {
    200: jsonAnswer(
      RunTokenBody,
      'The ended token; no proxy of this node accepts it any more, and those of other nodes within a second',
    ),
    404: errorAnswer('No such token'),
    ...COMMON_ERRORS,
  },
});

export function addRunTokenRoutes(app: OpenAPIHono, deps: AdminDeps): void {
  app.openapi(createRunTokenRoute, async (c) => {
    const pool = requireDatabase(deps);
    const asked = c.req.valid('json');
    const token = createRunToken();
    const stored = await insertRunToken(pool, {
      accountId: accountOf(c),
      keyId: await findKeyId(pool, accountOf(c), deps.nowMs(), asked),
      digest: digestKey(token),
      name: asked.name ?? null,
      traceId: asked.trace_id ?? null,
      spanPath: asked.span_path ?? null,
      provider: asked.provider ?? null,
      providerAlias: asked.provider_alias ?? null,
      metadata: Object.entries(asked.metadata ?? {}),
      ttlSeconds: asked.ttl_seconds,
    });
    if (stored === 'key_unusable') throw KEY_UNUSABLE;
    if (stored === 'full')
      throw new ApiError(
        409,
        'run_tokens_full',
        `There are ${MAX_LIVE_RUN_TOKENS} valid run tokens already. End those that are not needed, or give them less time.`,
      );
    await publish(deps, stored);
    const address = `${deps.baseUrl}/@${token}`;
    return c.json({ ...formatRunToken(stored.token, deps.nowMs()), token, address }, 201);
  });

  app.openapi(runTokensRoute, async (c) => {
    const tokens = await listRunTokens(requireDatabase(deps), accountOf(c));
    return c.json({ data: tokens.map((token) => formatRunToken(token, deps.nowMs())), next_cursor: null }, 200);
  });

  app.openapi(runTokenRoute, async (c) => {
    const token = await readRunToken(requireDatabase(deps), accountOf(c), c.req.valid('param').id);
    if (token === null) throw NOT_FOUND;
    return c.json(formatRunToken(token, deps.nowMs()), 200);
  });

  app.openapi(renewRunTokenRoute, async (c) => {
    const { ttl_seconds: ttlSeconds } = c.req.valid('json');
    const { id } = c.req.valid('param');
    const times = { ttlSeconds, maxSeconds: MAX_TTL_SECONDS };
    const stored = await renewRunToken(requireDatabase(deps), accountOf(c), id, times);
    if (stored === null) throw NOT_FOUND;
    if (stored === 'ended') throw new ApiError(409, 'run_token_ended', 'This run token was ended. Make another one.');
    await publish(deps, stored);
    return c.json(formatRunToken(stored.token, deps.nowMs()), 200);
  });

  app.openapi(endRunTokenRoute, async (c) => {
    const stored = await revokeRunToken(requireDatabase(deps), accountOf(c), c.req.valid('param').id);
    if (stored === null) throw NOT_FOUND;
    await publish(deps, stored);
    return c.json(formatRunToken(stored.token, deps.nowMs()), 200);
  });
}
