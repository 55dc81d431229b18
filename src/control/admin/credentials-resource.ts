/** Credentials of providers that the gateway keeps, over HTTP: set, listed without themselves, deleted. */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';
import { sealingKeysOf } from '../../keys/envelope.ts';
import { canOpenCredential, rewrapCredential, sealCredential } from '../../keys/sealed-credential.ts';
import { findCredentialOwner } from '../../providers/registry.ts';
import { PROVIDER_NAMES, type ProviderName } from '../../vocabulary/call-record.ts';
import { rewrapDestinations } from '../alerts/destination-seals.ts';
import {
  deleteCredential,
  listCredentials,
  MAX_CREDENTIALS,
  rewrapAll,
  type StoredCredential,
  storeCredential,
} from '../store/provider-credentials.ts';
import { type AdminDeps, requireDatabase } from './admin-deps.ts';
import { ApiError } from './api-error.ts';
import { accountOf } from './principal.ts';
import { readActor } from './read-actor.ts';
import { COMMON_ERRORS, errorAnswer, jsonAnswer, listOf, Time } from './schemas.ts';

const LAST = 4;
/** A shorter one would be told by its last characters. */
const MIN_CHARS = 12;

const Place = z.object({
  provider: z.enum(PROVIDER_NAMES),
  alias: z
    .string()
    .min(1)
    .max(100)
    .transform((text) => text.toLowerCase())
    .describe('An alias that the operator configured (`TOLLGATE_UPSTREAM_PROVIDER_ALIAS`)'),
});

const CredentialBody = z
  .object({
    provider: z.enum(PROVIDER_NAMES),
    alias: z.string(),
    origin: z.string().describe('Where it is sent, and nowhere else'),
    last4: z.string(),
    changed_at: Time,
    changed_by: z.string(),
    state: z
      .enum(['usable', 'not_opened', 'other_address'])
      .describe(
        '`not_opened`: no key of this node opens it; `other_address`: the alias leads elsewhere since. Calls that need it are refused then',
      ),
    problem: z.string().nullable().describe('What to do about it'),
  })
  .openapi('KeptCredential');

const NewBody = z
  .strictObject({
    value: z
      .string()
      .trim()
      .min(MIN_CHARS)
      .max(8_192)
      .regex(/^[\x21-\x7e]+$/, 'printable ASCII characters without spaces')
      .describe('The credential itself, without `Bearer`; it is never shown again'),
  })
  .openapi('NewKeptCredential');

export const credentialsRoute = createRoute({
  method: 'get',
  path: '/api/v1/credentials',
  summary: 'Credentials of providers that the gateway keeps, without the credentials themselves',
  responses: { 200: jsonAnswer(listOf(CredentialBody), 'All in one page'), ...COMMON_ERRORS },
});

export const setCredentialRoute = createRoute({
  method: 'put',
  path: '/api/v1/credentials/{provider}/{alias}',
  summary: 'Keep a credential for calls by this alias that bring none of their own; replaces the one before',
  request: { params: Place, body: { required: true, content: { 'application/json': { schema: NewBody } } } },
  responses: {
    200: jsonAnswer(CredentialBody, 'Kept; calls have it within a second'),
    404: errorAnswer('No such alias is configured on this node'),
    409: errorAnswer('The gateway has no key to seal it with, or the alias signs for AWS'),
    ...COMMON_ERRORS,
  },
});

export const deleteCredentialRoute = createRoute({
  method: 'delete',
  path: '/api/v1/credentials/{provider}/{alias}',
  summary: 'Delete a kept credential; calls need one of their own from then on',
  request: { params: Place },
  responses: {
    200: jsonAnswer(z.object({ deleted: z.literal(true) }), 'It is gone'),
    404: errorAnswer('None is kept'),
    ...COMMON_ERRORS,
  },
});

export const rotateCredentialsKeyRoute = createRoute({
  method: 'post',
  path: '/api/v1/credentials/rotate-key',
  summary:
    'Wrap all kept credentials and secrets of destinations with the first key of TOLLGATE_CREDENTIALS_KEY, after which the others can go',
  responses: {
    200: jsonAnswer(
      z.object({
        rewrapped: z.number().int(),
        left: z.number().int().describe('Those that no key of this node opens; they stay as they are'),
      }),
      'What was done',
    ),
    409: errorAnswer('The gateway has no key'),
    ...COMMON_ERRORS,
  },
});

function requireKey(deps: AdminDeps): Buffer {
  const [key] = sealingKeysOf(deps.credentialKeys);
  if (key !== undefined) return key;
  throw new ApiError(
    409,
    'no_credentials_key',
    deps.credentialKeys.problem ??
      'The gateway has no key to seal credentials with. Set TOLLGATE_CREDENTIALS_KEY_FILE to a file with what `openssl rand -base64 32` prints, and restart it.',
  );
}

/** Null where this node does not have the alias. */
function readOrigin(deps: AdminDeps, provider: ProviderName, alias: string): string | null {
  const variable = `TOLLGATE_UPSTREAM_${provider}_${alias.replaceAll('-', '_')}`.toUpperCase();
  const value = deps.settings.find((setting) => setting.name === variable)?.value;
  return typeof value === 'string' ? (URL.parse(value)?.origin ?? null) : null;
}

/**
 * A region alone does not sign: every AWS address has one. A node whose settings lack the keys, as a control pod may, cannot tell;
 * what is kept there for an alias that the proxies sign is never sent.
 */
function isSigned(deps: AdminDeps, provider: ProviderName, alias: string): boolean {
  const upstream = `TOLLGATE_AWS_${provider}_${alias.replaceAll('-', '_')}`.toUpperCase();
  return deps.settings.some(({ name }) => name === `${upstream}_ACCESS_KEY_ID` || name === `${upstream}_CREDENTIALS`);
}

function judge(deps: AdminDeps, stored: StoredCredential): Pick<z.infer<typeof CredentialBody>, 'state' | 'problem'> {
  if (!canOpenCredential(sealingKeysOf(deps.credentialKeys), stored))
    return {
      state: 'not_opened',
      problem:
        deps.credentialKeys.problem ??
        'it was sealed with another key than those in TOLLGATE_CREDENTIALS_KEY; add the former key there, or set the credential again',
    };
  const origin = readOrigin(deps, stored.provider, stored.alias);
  if (origin === stored.origin) return { state: 'usable', problem: null };
  const now = origin === null ? 'is not configured on this node' : `leads to ${origin} now`;
  return { state: 'other_address', problem: `the alias ${now}; set the credential again for its address` };
}

function format(deps: AdminDeps, stored: StoredCredential): z.infer<typeof CredentialBody> {
  const { provider, alias, origin, last4, changedAt, changedBy } = stored;
  return {
    provider,
    alias,
    origin,
    last4,
    changed_at: changedAt.toISOString(),
    changed_by: changedBy,
    ...judge(deps, stored),
  };
}

export function addCredentialRoutes(app: OpenAPIHono, deps: AdminDeps): void {
  app.openapi(credentialsRoute, async (c) => {
    const stored = await listCredentials(requireDatabase(deps), accountOf(c));
    return c.json({ data: stored.map((one) => format(deps, one)), next_cursor: null }, 200);
  });

  app.openapi(setCredentialRoute, async (c) => {
    const { provider, alias } = c.req.valid('param');
    const { value } = c.req.valid('json');
    const key = requireKey(deps);
    const origin = readOrigin(deps, provider, alias);
    if (origin === null)
      throw new ApiError(
        404,
        'alias_unknown',
        `This node has no alias ${alias} of ${provider}. Set TOLLGATE_UPSTREAM_${provider.toUpperCase()}_${alias.toUpperCase().replaceAll('-', '_')} to the address that it is for, and restart the gateway.`,
      );
    if (isSigned(deps, provider, alias))
      throw new ApiError(409, 'alias_signs', 'Calls by this alias are signed for AWS and need no other credential.');
    const owner = findCredentialOwner(value);
    if (owner !== null && owner !== provider)
      throw new ApiError(400, 'invalid_request', `This is a credential of ${owner}, and the alias is of ${provider}.`);
    const place = { accountId: accountOf(c), provider, alias, origin };
    const credential = {
      ...place,
      ...sealCredential(key, place, value),
      last4: value.slice(-LAST),
      changedBy: readActor(c),
    };
    if (!(await storeCredential(requireDatabase(deps), credential)))
      throw new ApiError(409, 'credentials_full', `There are ${MAX_CREDENTIALS} kept credentials already.`);
    await deps.publishCredentials();
    return c.json(format(deps, { ...credential, changedAt: new Date(deps.nowMs()) }), 200);
  });

  app.openapi(deleteCredentialRoute, async (c) => {
    const name = { accountId: accountOf(c), ...c.req.valid('param') };
    if (!(await deleteCredential(requireDatabase(deps), name)))
      throw new ApiError(404, 'not_found', 'No credential is kept for this alias.');
    await deps.publishCredentials();
    return c.json({ deleted: true as const }, 200);
  });

  app.openapi(rotateCredentialsKeyRoute, async (c) => {
    requireKey(deps);
    const keys = sealingKeysOf(deps.credentialKeys);
    const [pool, accountId] = [requireDatabase(deps), accountOf(c)];
    const credentials = await rewrapAll(pool, accountId, (stored) => rewrapCredential(keys, stored));
    const destinations = await rewrapDestinations(pool, accountId, keys);
    await deps.publishCredentials();
    const rewrapped = credentials.rewrapped + destinations.rewrapped;
    return c.json({ rewrapped, left: credentials.left + destinations.left }, 200);
  });
}
