/** API tokens over HTTP: what lets programs into the admin API, within their scopes. A token is shown once. */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';
import { createApiToken, digestKey, keyHints } from '../../keys/gateway-key.ts';
import { insertApiToken, listApiTokens, revokeApiToken, type StoredApiToken } from '../store/api-tokens.ts';
import { SCOPE_WORDS } from './access-words.ts';
import { type AdminDeps, requireDatabase } from './admin-deps.ts';
import { ApiError } from './api-error.ts';
import { accountOf, principalOf, SCOPES } from './principal.ts';
import { requireBodies } from './route-access.ts';
import { COMMON_ERRORS, errorAnswer, jsonAnswer, listOf, NameField, Time } from './schemas.ts';

const MAX_ID = 2_147_483_647;

const Scopes = z.array(z.enum(SCOPES)).describe(SCOPES.map((scope) => `${scope}: ${SCOPE_WORDS[scope]}`).join('. '));

const TokenBody = z
  .object({
    id: z.number().int(),
    name: z.string(),
    last4: z.string().describe('Last characters of the token'),
    scopes: Scopes,
    created_by: z.string(),
    created_at: Time,
    last_used_at: Time.nullable().describe('Up to a minute late; null when never used'),
    expires_at: Time.nullable(),
    revoked_at: Time.nullable(),
  })
  .openapi('ApiToken');

const CreatedBody = TokenBody.extend({
  token: z.string().describe('The token itself; it is never shown again'),
}).openapi('CreatedApiToken');

const NewBody = z
  .strictObject({
    name: NameField.describe('What it is for'),
    scopes: Scopes.min(1),
    expires_at: z.iso.datetime({ offset: true }).optional().describe('When it stops being valid by itself'),
  })
  .openapi('NewApiToken');

const IdParameter = z.object({ id: z.coerce.number().int().min(1).max(MAX_ID) });

function formatToken(token: StoredApiToken): z.infer<typeof TokenBody> {
  return {
    id: token.id,
    name: token.name,
    last4: token.last4,
    scopes: SCOPES.filter((scope) => token.scopes.includes(scope)),
    created_by: token.createdBy,
    created_at: token.createdAt.toISOString(),
    last_used_at: token.lastUsedAt?.toISOString() ?? null,
    expires_at: token.expiresAt?.toISOString() ?? null,
    revoked_at: token.revokedAt?.toISOString() ?? null,
  };
}

export const createApiTokenRoute = createRoute({
  method: 'post',
  path: '/api/v1/tokens',
  summary: 'Make an API token for this account',
  request: { body: { required: true, content: { 'application/json': { schema: NewBody } } } },
  responses: { 201: jsonAnswer(CreatedBody, 'The token, shown once'), ...COMMON_ERRORS },
});

export const apiTokensRoute = createRoute({
  method: 'get',
  path: '/api/v1/tokens',
  summary: 'All API tokens of the account, revoked ones too, the oldest first',
  responses: { 200: jsonAnswer(listOf(TokenBody), 'All in one page, at most 1,000'), ...COMMON_ERRORS },
});

export const revokeApiTokenRoute = createRoute({
  method: 'delete',
  path: '/api/v1/tokens/{id}',
  summary: 'Revoke an API token; revoking again changes nothing',
  request: { params: IdParameter },
  responses: {
    200: jsonAnswer(TokenBody, 'The revoked token; no node accepts it any more'),
    404: errorAnswer('No such token'),
    ...COMMON_ERRORS,
  },
});

export function addApiTokenRoutes(app: OpenAPIHono, deps: AdminDeps): void {
  app.openapi(createApiTokenRoute, async (c) => {
    const { name, scopes, expires_at: expiresAt } = c.req.valid('json');
    if (scopes.includes('bodies')) requireBodies(c);
    const token = createApiToken();
    const stored = await insertApiToken(requireDatabase(deps), {
      accountId: accountOf(c),
      name,
      digest: digestKey(token),
      last4: keyHints(token).last4,
      scopes: SCOPES.filter((scope) => scopes.includes(scope)),
      createdBy: principalOf(c).name,
      expiresAt: expiresAt === undefined ? null : new Date(expiresAt),
    });
    return c.json({ ...formatToken(stored), token }, 201);
  });

  app.openapi(apiTokensRoute, async (c) => {
    const tokens = await listApiTokens(requireDatabase(deps), accountOf(c));
    return c.json({ data: tokens.map(formatToken), next_cursor: null }, 200);
  });

  app.openapi(revokeApiTokenRoute, async (c) => {
    const stored = await revokeApiToken(requireDatabase(deps), accountOf(c), c.req.valid('param').id);
    if (stored === null) throw new ApiError(404, 'not_found', 'There is no API token with this number.');
    return c.json(formatToken(stored), 200);
  });
}
