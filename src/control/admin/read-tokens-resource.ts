/** Read tokens over HTTP: what may ask the log over MCP. A token is shown once, when it is made. */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';
import { createReadToken, digestKey, keyHints } from '../../keys/gateway-key.ts';
import { insertReadToken, listReadTokens, revokeReadToken, type StoredReadToken } from '../store/read-tokens.ts';
import { type AdminDeps, requireDatabase } from './admin-deps.ts';
import { ApiError } from './api-error.ts';
import { accountOf } from './principal.ts';
import { requireBodies } from './route-access.ts';
import { COMMON_ERRORS, errorAnswer, jsonAnswer, listOf, NameField, Time } from './schemas.ts';

const MAX_ID = 2_147_483_647;

const Name = NameField.describe('Whom it is for');
const KeyId = z.number().int().min(1).max(MAX_ID);

const ReadTokenBody = z
  .object({
    id: z.number().int(),
    name: z.string(),
    last4: z.string().describe('Last characters of the token'),
    key_id: z.number().int().nullable().describe('The gateway key whose calls alone it reads; null for all calls'),
    texts: z.boolean().describe('Whether it may read and search the text of prompts and answers'),
    created_at: Time,
    last_used_at: Time.nullable().describe('Up to a minute late; null when never used'),
    expires_at: Time.nullable(),
    revoked_at: Time.nullable(),
  })
  .openapi('ReadToken');

const CreatedBody = ReadTokenBody.extend({
  token: z.string().describe('The token itself; it is never shown again'),
}).openapi('CreatedReadToken');

const NewBody = z
  .strictObject({
    name: Name,
    key_id: KeyId.optional().describe('Only calls of this gateway key; without it all of the account'),
    texts: z.boolean().default(false).describe('Let it read and search the text of prompts and answers'),
    expires_at: z.iso.datetime({ offset: true }).optional().describe('When it stops being valid by itself'),
  })
  .openapi('NewReadToken');

export type ReadToken = z.infer<typeof ReadTokenBody>;
export type CreatedReadToken = z.infer<typeof CreatedBody>;
export type NewReadToken = z.input<typeof NewBody>;

const IdParameter = z.object({ id: z.coerce.number().int().min(1).max(MAX_ID) });

function formatToken(token: StoredReadToken): z.infer<typeof ReadTokenBody> {
  return {
    id: token.id,
    name: token.name,
    last4: token.last4,
    key_id: token.keyId,
    texts: token.hasTexts,
    created_at: token.createdAt.toISOString(),
    last_used_at: token.lastUsedAt?.toISOString() ?? null,
    expires_at: token.expiresAt?.toISOString() ?? null,
    revoked_at: token.revokedAt?.toISOString() ?? null,
  };
}

export const createTokenRoute = createRoute({
  method: 'post',
  path: '/api/v1/read-tokens',
  summary: 'Make a token that may read the log over MCP, and nothing else',
  request: { body: { required: true, content: { 'application/json': { schema: NewBody } } } },
  responses: {
    201: jsonAnswer(CreatedBody, 'The token, shown once'),
    404: errorAnswer('No such gateway key'),
    ...COMMON_ERRORS,
  },
});

export const listRoute = createRoute({
  method: 'get',
  path: '/api/v1/read-tokens',
  summary: 'All read tokens, revoked ones too, the oldest first',
  responses: { 200: jsonAnswer(listOf(ReadTokenBody), 'All in one page, at most 1,000'), ...COMMON_ERRORS },
});

export const revokeRoute = createRoute({
  method: 'delete',
  path: '/api/v1/read-tokens/{id}',
  summary: 'Revoke a read token; revoking again changes nothing',
  request: { params: IdParameter },
  responses: {
    200: jsonAnswer(ReadTokenBody, 'The revoked token; no node accepts it any more'),
    404: errorAnswer('No such token'),
    ...COMMON_ERRORS,
  },
});

export function addReadTokenRoutes(app: OpenAPIHono, deps: AdminDeps): void {
  app.openapi(createTokenRoute, async (c) => {
    const { name, key_id: keyId, texts, expires_at: expiresAt } = c.req.valid('json');
    if (texts) requireBodies(c);
    const token = createReadToken();
    const stored = await insertReadToken(requireDatabase(deps), {
      accountId: accountOf(c),
      keyId: keyId ?? null,
      name,
      digest: digestKey(token),
      last4: keyHints(token).last4,
      hasTexts: texts,
      expiresAt: expiresAt === undefined ? null : new Date(expiresAt),
    });
    if (stored === null) throw new ApiError(404, 'key_not_found', 'There is no gateway key with this id.');
    return c.json({ ...formatToken(stored), token }, 201);
  });

  app.openapi(listRoute, async (c) => {
    const tokens = await listReadTokens(requireDatabase(deps), accountOf(c));
    return c.json({ data: tokens.map(formatToken), next_cursor: null }, 200);
  });

  app.openapi(revokeRoute, async (c) => {
    const stored = await revokeReadToken(requireDatabase(deps), accountOf(c), c.req.valid('param').id);
    if (stored === null) throw new ApiError(404, 'not_found', 'There is no read token with this id.');
    return c.json(formatToken(stored), 200);
  });
}
