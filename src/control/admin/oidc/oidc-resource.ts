/** Signing in by the identity provider: there, back, and out. These routes are for a browser, which follows them. */
import { createHmac } from 'node:crypto';
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { deleteCookie, getSignedCookie, setSignedCookie } from 'hono/cookie';
import { isDatabaseDown } from '../../store/database-error.ts';
import { takeInIssued } from '../../store/issued-people.ts';
import { type KnownPerson, noteSignOut } from '../../store/people.ts';
import type { AdminDeps } from '../admin-deps.ts';
import { ApiError } from '../api-error.ts';
import { requireWholeDatabase } from '../behind-wall.ts';
import { OIDC_CALLBACK_PATH } from '../guard.ts';
import { isSecure, readOrigin } from '../public-origin.ts';
import { errorAnswer, jsonAnswer } from '../schemas.ts';
import type { Sessions } from '../session.ts';
import { signInPerson } from '../sign-in-person.ts';
import { grantsOf } from './grants-of.ts';
import { createIdentityProvider, type IssuedIdentity } from './identity-provider.ts';

const CHALLENGE_COOKIE = 'tollgate_oidc';
const CHALLENGE_SECONDS = 600;

const Challenge = z.object({
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  next: z.string(),
  expires_at_ms: z.number(),
});

/** In the address of the sign-in page, which has the words. */
type Problem = 'provider_unreachable' | 'sign_in_refused' | 'no_account' | 'email_taken' | 'no_email' | 'too_late';

/** Only an address of this site. */
function ownAddress(next: string | undefined): string {
  return next?.startsWith('/') === true && !next.startsWith('//') && !next.startsWith('/\\') ? next : '/';
}

export const signInWaysRoute = createRoute({
  method: 'get',
  path: '/api/v1/sign-in-ways',
  summary: 'How people sign in here, for the sign-in page',
  security: [],
  responses: {
    200: jsonAnswer(
      z.object({
        provider: z.object({ name: z.string() }).nullable().describe('The identity provider; null without one'),
      }),
      'The ways',
    ),
  },
});

/** A browser follows these; there is nothing to read. */
const FOLLOWED = [
  ['/api/v1/oidc/sign-in', 'Leads a browser to the identity provider'],
  [OIDC_CALLBACK_PATH, 'Where the identity provider sends a browser back: signs it in, or leads to the sign-in page'],
  ['/api/v1/oidc/sign-out', 'Signs a browser out here and leads it to the identity provider for the same'],
] as const;

function documentFollowed(app: OpenAPIHono): void {
  for (const [path, summary] of FOLLOWED)
    app.openAPIRegistry.registerPath({
      method: 'get',
      path,
      summary,
      security: [],
      // Its parameters are the provider's.
      request: { query: z.looseObject({}) },
      responses: {
        302: { description: 'Where to go on' },
        404: errorAnswer('This gateway has no identity provider'),
      },
    });
}

export function addOidcRoutes(app: OpenAPIHono, deps: AdminDeps, sessions: Sessions): void {
  const { oidc } = deps;
  const provider = oidc === null ? null : createIdentityProvider(oidc, deps.alertSending.egress);
  const key = createHmac('sha256', deps.adminToken).update('tollgate sign-in cookie, version 1').digest();

  app.openapi(signInWaysRoute, (c) => c.json({ provider: oidc === null ? null : { name: oidc.name } }, 200));
  documentFollowed(app);

  function requireProvider() {
    if (oidc === null || provider === null)
      throw new ApiError(404, 'not_found', 'This gateway has no identity provider; see docs/accounts.md.');
    return { oidc, provider };
  }

  const backTo = (c: Context, problem: Problem): Response => c.redirect(`/login#problem=${problem}`, 302);

  function refuse(c: Context, code: Problem, email: string | null): Response {
    c.set('refusedSignIn', { code, email });
    return backTo(c, code);
  }

  /** Lax, since the browser comes back from another site. */
  const cookieFor = (c: Context) =>
    ({ path: OIDC_CALLBACK_PATH, httpOnly: true, sameSite: 'Lax', secure: isSecure(c, deps) }) as const;

  app.get('/api/v1/oidc/sign-in', async (c) => {
    const { provider: known } = requireProvider();
    const begun = await known.begin(readOrigin(c, deps) + OIDC_CALLBACK_PATH).catch((error: unknown) => {
      deps.log.error({ err: error }, 'the identity provider cannot be reached');
      return null;
    });
    if (begun === null) return backTo(c, 'provider_unreachable');
    const kept: z.infer<typeof Challenge> = {
      ...begun.challenge,
      next: ownAddress(c.req.query('next')),
      expires_at_ms: deps.nowMs() + CHALLENGE_SECONDS * 1_000,
    };
    const value = Buffer.from(JSON.stringify(kept)).toString('base64url');
    await setSignedCookie(c, CHALLENGE_COOKIE, value, key, { ...cookieFor(c), maxAge: CHALLENGE_SECONDS });
    return c.redirect(begun.url.href, 302);
  });

  async function readChallenge(c: Context): Promise<z.infer<typeof Challenge> | null> {
    const value = await getSignedCookie(c, key, CHALLENGE_COOKIE);
    if (typeof value !== 'string') return null;
    const challenge = Challenge.parse(JSON.parse(Buffer.from(value, 'base64url').toString('utf8')));
    return deps.nowMs() < challenge.expires_at_ms ? challenge : null;
  }

  async function takeIn(identity: IssuedIdentity): Promise<KnownPerson | Problem> {
    const { issuer, subject, email, isEmailVerified, name, groups } = identity;
    if (email === null) return 'no_email';
    const grants = grantsOf(groups, requireProvider().oidc.grants);
    return takeInIssued(requireWholeDatabase(deps), {
      issuer,
      subject,
      email,
      isEmailVerified,
      name: name ?? email,
      grants,
    });
  }

  app.get(OIDC_CALLBACK_PATH, async (c) => {
    const { oidc: config, provider: known } = requireProvider();
    const challenge = await readChallenge(c);
    deleteCookie(c, CHALLENGE_COOKIE, cookieFor(c));
    if (challenge === null) return backTo(c, 'too_late');
    // The address that the provider was told, whatever this request calls us.
    const answer = new URL(readOrigin(c, deps) + OIDC_CALLBACK_PATH + new URL(c.req.url).search);
    const identity = await known.finish(answer, challenge).catch((error: unknown) => {
      deps.log.warn({ err: error }, 'a sign-in by the identity provider was refused');
      return null;
    });
    if (identity === null) return refuse(c, 'sign_in_refused', null);
    const person = await takeIn(identity);
    if (typeof person === 'string') return refuse(c, person, identity.email);
    await signInPerson(c, deps, sessions, person, config.sessionHours * 3_600);
    return c.redirect(challenge.next, 302);
  });

  app.get('/api/v1/oidc/sign-out', async (c) => {
    const { provider: known } = requireProvider();
    const session = await sessions.read(c);
    await sessions.end(c, isSecure(c, deps));
    if (session !== null && session.holder !== null && 'personId' in session.holder) {
      const { personId: id, sessionKey } = session.holder;
      await noteSignOut(requireWholeDatabase(deps), { id, sessionKey }).catch((error: unknown) => {
        if (!isDatabaseDown(error)) deps.log.error({ err: error }, 'a sign-out could not be noted in the audit log');
      });
    }
    const url = await known.signOutUrl(`${readOrigin(c, deps)}/login`).catch(() => null);
    return c.redirect(url?.href ?? '/login', 302);
  });
}
