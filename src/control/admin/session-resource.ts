/** Signing in and out: one-time links, the exchange of a code or the admin token, the end. */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { digestKey, isWellFormedShareToken } from '../../keys/gateway-key.ts';
import { isDatabaseDown } from '../store/database-error.ts';
import {
  type KnownPerson,
  readPasswordHash,
  readPerson,
  redeemPersonLink,
  writePasswordHash,
} from '../store/people.ts';
import { openShareLink, SHARED_PAGES } from '../store/share-links.ts';
import { listUsable } from './accounts-resource.ts';
import type { AdminDeps } from './admin-deps.ts';
import { ApiError } from './api-error.ts';
import { requireWholeDatabase } from './behind-wall.ts';
import { refuseGuesses } from './guard.ts';
import { createLoginCodes } from './login-codes.ts';
import { createPasswords, MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH } from './passwords.ts';
import { readPeer } from './peer.ts';
import { digestOfLink } from './people-resource.ts';
import { type Principal, principalOf, ROLES, SCOPES } from './principal.ts';
import { isSecure, readOrigin } from './public-origin.ts';
import { COMMON_ERRORS, errorAnswer, jsonAnswer, Time } from './schemas.ts';
import type { Sessions } from './session.ts';
import { parametersOf } from './share-links-resource.ts';
import { signInPerson } from './sign-in-person.ts';
import type { TokenCheck } from './token-check.ts';

const LoginLinkBody = z
  .object({
    url: z.string().describe('Open it in a browser. The code stands after the #, which no server is sent'),
    expires_at: Time,
  })
  .openapi('LoginLink');

/** Exceeds any code or token. */
const Proof = z.string().min(1).max(1_024);
const SignInBody = z
  .union([
    z.strictObject({ code: Proof }),
    z.strictObject({ token: Proof }),
    z.strictObject({ person: Proof }),
    z.strictObject({ link: Proof }),
    z.strictObject({ email: z.string().trim().max(254), password: Proof }),
  ])
  .describe(
    '`code` of a login link or `token`: the operator; `person` of a person’s link, or address and password: a person; `link` of a share link: whoever has it',
  );

const Password = z
  .string()
  .min(MIN_PASSWORD_LENGTH)
  .max(MAX_PASSWORD_LENGTH)
  .describe(`At least ${MIN_PASSWORD_LENGTH} characters`);

const SessionBody = z
  .object({
    signed_in: z.literal(true),
    kind: z.enum(['operator', 'person', 'token', 'link']),
    name: z.string(),
    person_id: z.number().int().nullable(),
    has_password: z.boolean(),
    account: z.object({ id: z.number().int(), name: z.string() }),
    accounts: z.number().int().describe('How many accounts the asker may use'),
    role: z.enum(ROLES),
    scopes: z.array(z.enum(SCOPES)).nullable().describe('Of an API token; null: the role decides'),
    may_read_bodies: z.boolean(),
    sign_out_url: z
      .string()
      .nullable()
      .describe('Where a browser signs out here and at the identity provider; null where it is not signed in by one'),
    shared: z
      .object({ page: z.enum(SHARED_PAGES), parameters: z.record(z.string(), z.array(z.string())), expires_at: Time })
      .nullable()
      .describe('What a share link shows, and nothing else; null for all others'),
    base_url: z.string().describe('Where clients reach the proxy'),
    version: z.string(),
  })
  .openapi('Session');

/** Of whoever came by a share link, which is looked up for each request besides. */
const VISIT_SECONDS = 86_400;

const WRONG_PASSWORD = new ApiError(401, 'password_wrong', 'Address or password is wrong.');

export const beginSessionRoute = createRoute({
  method: 'post',
  path: '/api/v1/session',
  summary: 'Sign this browser in: answers with the session’s cookie',
  security: [],
  request: { body: { required: true, content: { 'application/json': { schema: SignInBody } } } },
  responses: {
    204: { description: 'Signed in for 30 days' },
    ...COMMON_ERRORS,
    401: errorAnswer('A wrong or used code, or a wrong token or password'),
    429: errorAnswer('Too many wrong tokens or passwords'),
  },
});

export const sessionRoute = createRoute({
  method: 'get',
  path: '/api/v1/session',
  summary: 'Who asks: the operator, a person or an API token, in which account',
  responses: { 200: jsonAnswer(SessionBody, 'Who asks, in which account'), ...COMMON_ERRORS },
});

export const endSessionRoute = createRoute({
  method: 'delete',
  path: '/api/v1/session',
  summary: 'Sign this browser out',
  responses: { 204: { description: 'The cookie is removed, and a copy of it holds no longer' }, ...COMMON_ERRORS },
});

export const passwordRoute = createRoute({
  method: 'put',
  path: '/api/v1/password',
  summary: 'Set one’s own password; other sessions of the person end',
  request: {
    body: {
      required: true,
      content: {
        'application/json': {
          schema: z.strictObject({
            password: Password,
            current: Proof.optional().describe('The present one, where there is one'),
          }),
        },
      },
    },
  },
  responses: { 204: { description: 'It is set' }, ...COMMON_ERRORS },
});

export function addSessionRoutes(app: OpenAPIHono, deps: AdminDeps, sessions: Sessions, tokens: TokenCheck): void {
  const codes = createLoginCodes(deps.database, isDatabaseDown, deps.nowMs);
  const passwords = createPasswords();

  function notePasswordFailure(guessers: readonly string[]): void {
    for (const guesser of guessers) tokens.judge('', [], guesser);
  }

  /** By address of the client and by that of the person, so that many clients cannot guess at one person. */
  async function checkPassword(c: Context, email: string, password: string): Promise<KnownPerson> {
    const { client } = readPeer(c.env);
    const guessers = [`person ${email.toLowerCase()}`, ...(client === null ? [] : [client])];
    const waitMs = Math.max(...guessers.map(tokens.waitMsOf));
    if (waitMs > 0) refuseGuesses(c, waitMs);
    const stored = await readPasswordHash(requireWholeDatabase(deps), email);
    const isRight = await passwords.verify(password, stored?.hash ?? null);
    // Whom the provider vouches for comes in by the provider alone.
    if (isRight && stored !== null && !isOfProvider(deps, stored.issuer)) return stored;
    notePasswordFailure(guessers);
    throw WRONG_PASSWORD;
  }

  async function findPerson(c: Context, proof: z.infer<typeof SignInBody>): Promise<KnownPerson | null> {
    if ('email' in proof) return checkPassword(c, proof.email, proof.password);
    if (!('person' in proof)) return null;
    const person = await redeemPersonLink(requireWholeDatabase(deps), digestOfLink(proof.person));
    if (person !== null) return person;
    throw new ApiError(
      401,
      'code_invalid',
      'This link was used before, or is too old. An owner of the account can make a new one.',
    );
  }

  /** A token of a link is 256 random bits and needs no limit, either. */
  async function openShared(c: Context, token: string): Promise<void> {
    const linkDigest = digestKey(token);
    const link = isWellFormedShareToken(token) ? await openShareLink(requireWholeDatabase(deps), linkDigest) : null;
    if (link === null)
      throw new ApiError(
        401,
        'link_invalid',
        'This link is not whole, has expired, or was revoked. Whoever gave it to you can make a new one.',
      );
    const leftSeconds = Math.max(1, Math.ceil((link.expiresAt.getTime() - deps.nowMs()) / 1_000));
    await sessions.begin(c, isSecure(c, deps), { linkDigest }, Math.min(leftSeconds, VISIT_SECONDS));
  }

  /** A code is 256 random bits and needs no limit, so a flood of wrong tokens keeps nobody out. */
  async function checkOperator(
    c: Context,
    proof: { readonly code: string } | { readonly token: string },
  ): Promise<void> {
    if ('code' in proof) {
      if (await codes.redeem(proof.code)) return;
      throw new ApiError(
        401,
        'code_invalid',
        'This login link was used before, or is older than ten minutes. Make a new one: `tollgate login`',
      );
    }
    const verdict = tokens.judge(proof.token, [deps.adminToken], readPeer(c.env).client);
    if (verdict.kind === 'right') return;
    if (verdict.kind === 'limited') refuseGuesses(c, verdict.waitMs);
    throw new ApiError(401, 'token_invalid', 'This is not the admin token of this gateway.');
  }

  const link = createRoute({
    method: 'post',
    path: '/api/v1/login-links',
    summary: 'A link that signs one browser in, once, within ten minutes',
    responses: { 201: jsonAnswer(LoginLinkBody, 'The link; it is not shown again'), ...COMMON_ERRORS },
  });
  app.openapi(link, async (c) => {
    const { code, expiresAtMs } = await codes.create();
    const url = `${readOrigin(c, deps)}/login#code=${code}`;
    return c.json({ url, expires_at: new Date(expiresAtMs).toISOString() }, 201);
  });

  app.openapi(beginSessionRoute, async (c) => {
    const proof = c.req.valid('json');
    if ('link' in proof) {
      await openShared(c, proof.link);
      return c.body(null, 204);
    }
    const person = await findPerson(c, proof);
    if (person !== null) {
      if (!(await signInPerson(c, deps, sessions, person))) throw WRONG_PASSWORD;
    } else if ('code' in proof || 'token' in proof) {
      await checkOperator(c, proof);
      await sessions.begin(c, isSecure(c, deps));
    }
    return c.body(null, 204);
  });

  app.openapi(sessionRoute, async (c) => c.json(await describeSession(deps, principalOf(c)), 200));

  app.openapi(passwordRoute, async (c) => {
    const { kind, id, name } = principalOf(c);
    if (kind !== 'person' || id === null)
      throw new ApiError(403, 'forbidden', 'Only a person has a password; the operator has the admin token.');
    const { password, current } = c.req.valid('json');
    const pool = requireWholeDatabase(deps);
    const person = await readPerson(pool, id);
    // It would let them in after the provider no longer does.
    if (person === null || isOfProvider(deps, person.issuer))
      throw new ApiError(403, 'forbidden', 'You sign in through your identity provider, which keeps your password.');
    if (person.hasPassword) await checkPassword(c, name, current ?? '');
    await writePasswordHash(pool, person, await passwords.hash(password));
    await signInPerson(c, deps, sessions, person);
    return c.body(null, 204);
  });

  app.openapi(endSessionRoute, async (c) => {
    await sessions.end(c, isSecure(c, deps));
    return c.body(null, 204);
  });
}

/** False for people of a provider that was turned off or replaced by another: they need a password. */
function isOfProvider({ oidc }: AdminDeps, issuer: string | null): boolean {
  return issuer !== null && oidc !== null && new URL(issuer).href === new URL(oidc.issuer).href;
}

/** Also while the database is down, for the operator. */
async function describeSession(deps: AdminDeps, principal: Principal): Promise<z.infer<typeof SessionBody>> {
  const accounts = await listUsable(deps, principal).catch((error: unknown) => {
    if (principal.kind === 'operator' && (error instanceof ApiError || isDatabaseDown(error))) return [];
    throw error;
  });
  const own = accounts.find(({ id }) => id === principal.accountId);
  const person =
    principal.kind === 'person' && principal.id !== null
      ? await readPerson(requireWholeDatabase(deps), principal.id)
      : null;
  return {
    signed_in: true,
    kind: principal.kind,
    name: principal.name,
    person_id: person?.id ?? null,
    has_password: person?.hasPassword ?? false,
    account: { id: principal.accountId, name: own?.name ?? String(principal.accountId) },
    accounts: accounts.length,
    role: principal.role,
    scopes: principal.scopes === null ? null : [...principal.scopes],
    may_read_bodies: principal.mayReadBodies,
    sign_out_url: isOfProvider(deps, person?.issuer ?? null) ? '/api/v1/oidc/sign-out' : null,
    shared:
      principal.view === null
        ? null
        : {
            page: principal.view.page,
            parameters: parametersOf(principal.view.parameters),
            expires_at: principal.view.expiresAt.toISOString(),
          },
    base_url: deps.baseUrl,
    version: deps.version,
  };
}
