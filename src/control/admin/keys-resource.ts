/** Gateway keys over HTTP. A key is shown once, when created; a change is answered when all proxies have it. */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';
import { createGatewayKey, digestKey, keyHints } from '../../keys/gateway-key.ts';
import { readKeyUsage } from '../log/key-usage.ts';
import { isDatabaseDown } from '../store/database-error.ts';
import {
  editKey,
  insertKey,
  isKeyKnown,
  type KeyStored,
  listKeys,
  revokeKey,
  rotateKey,
} from '../store/gateway-keys.ts';
import { listFirstKeys } from '../store/key-rotations.ts';
import { type AdminDeps, requireDatabase } from './admin-deps.ts';
import { ApiError } from './api-error.ts';
import {
  CreatedKeyBody,
  formatKey,
  formatListedKey,
  isLimited,
  KeyBody,
  KeyEditBody,
  ListedKeyBody,
  NewKeyBody,
  RotationBody,
  readGiven,
} from './key-bodies.ts';
import { createPacedQuery } from './paced-query.ts';
import { accountOf } from './principal.ts';
import { COMMON_ERRORS, errorAnswer, jsonAnswer, listOf } from './schemas.ts';

const USAGE_LIMIT_MS = 2_000;

const IdParameter = z.object({ id: z.coerce.number().int().min(1).max(2_147_483_647) });

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
    409: errorAnswer('The key was revoked, or a key that replaces it is usable'),
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
    const given = c.req.valid('json');
    const key = createGatewayKey();
    const stored = await insertKey(requireDatabase(deps), {
      ...readGiven(given),
      name: given.name,
      accountId: accountOf(c),
      digest: digestKey(key),
      ...keyHints(key),
    });
    await publish(deps, stored);
    return c.json({ ...formatKey(stored.key), key }, 201);
  });

  app.openapi(keysRoute, async (c) => {
    const pool = requireDatabase(deps);
    const [keys, usage] = await Promise.all([listKeys(pool, accountOf(c)), readUsage(pool, accountOf(c))]);
    const firstKeys = listFirstKeys(keys);
    const limitUse = keys.some(isLimited) ? ((await deps.readSupervisorStatus())?.limitUse ?? null) : null;
    return c.json(
      { data: keys.map((key) => formatListedKey(key, usage, limitUse, firstKeys)), next_cursor: null },
      200,
    );
  });

  app.openapi(editKeyRoute, async (c) => {
    const pool = requireDatabase(deps);
    const { id } = c.req.valid('param');
    const stored = await editKey(pool, accountOf(c), id, readGiven(c.req.valid('json')));
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
    if ('replacedBy' in stored)
      throw new ApiError(
        409,
        'key_replaced',
        `Key ${id} was rotated before. Rotate key ${stored.replacedBy}, the last usable key that replaces it.`,
      );
    // A pause of the key is one of its new half, from that one's first call on.
    await deps.publishPauses();
    await publish(deps, stored);
    return c.json({ ...formatKey(stored.key), key }, 201);
  });
}
