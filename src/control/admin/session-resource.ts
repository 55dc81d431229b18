/** Signing in and out: one-time links, the exchange of a code or the admin token, the end. */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { isDatabaseDown } from '../store/database-error.ts';
import type { AdminDeps } from './admin-deps.ts';
import { ApiError } from './api-error.ts';
import { refuseGuesses } from './guard.ts';
import { createLoginCodes } from './login-codes.ts';
import { readPeer } from './peer.ts';
import { COMMON_ERRORS, errorAnswer, jsonAnswer, Time } from './schemas.ts';
import type { Sessions } from './session.ts';
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
  .union([z.strictObject({ code: Proof }), z.strictObject({ token: Proof })])
  .describe('The code of a login link, or the admin token');

type PublicUrls = Pick<AdminDeps, 'adminPublicUrl' | 'publicUrl'>;

/** The address by which the client reached us, checked by the guard. */
function originOf(c: Context, { adminPublicUrl, publicUrl }: PublicUrls): string {
  const host = c.req.header('host') ?? '';
  for (const url of [adminPublicUrl, publicUrl])
    if (url !== null && new URL(url).host === host) return new URL(url).origin;
  return `${readPeer(c.env).isTls ? 'https' : 'http'}://${host}`;
}

/** The browser's own statement, else the name that it used. */
function isSecure(c: Context, urls: PublicUrls): boolean {
  return (c.req.header('origin') ?? originOf(c, urls)).startsWith('https:');
}

export const beginSessionRoute = createRoute({
  method: 'post',
  path: '/api/v1/session',
  summary: 'Sign this browser in: answers with the session’s cookie',
  security: [],
  request: { body: { required: true, content: { 'application/json': { schema: SignInBody } } } },
  responses: {
    204: { description: 'Signed in for 30 days' },
    ...COMMON_ERRORS,
    401: errorAnswer('A wrong or used code, or a wrong token'),
    429: errorAnswer('Too many wrong tokens'),
  },
});

export const sessionRoute = createRoute({
  method: 'get',
  path: '/api/v1/session',
  summary: 'Whether the request has valid credentials',
  responses: { 200: jsonAnswer(z.object({ signed_in: z.literal(true) }), 'It has'), ...COMMON_ERRORS },
});

export const endSessionRoute = createRoute({
  method: 'delete',
  path: '/api/v1/session',
  summary: 'Sign this browser out',
  responses: { 204: { description: 'The cookie is removed, and a copy of it holds no longer' }, ...COMMON_ERRORS },
});

export function addSessionRoutes(app: OpenAPIHono, deps: AdminDeps, sessions: Sessions, tokens: TokenCheck): void {
  const codes = createLoginCodes(deps.database, isDatabaseDown, deps.nowMs);

  /** A code is 256 random bits and needs no limit, so a flood of wrong tokens keeps nobody out. */
  async function checkProof(c: Context, proof: z.infer<typeof SignInBody>): Promise<void> {
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
    // Mostly requested on this machine and opened elsewhere.
    const url = `${deps.adminPublicUrl ?? originOf(c, deps)}/login#code=${code}`;
    return c.json({ url, expires_at: new Date(expiresAtMs).toISOString() }, 201);
  });

  app.openapi(beginSessionRoute, async (c) => {
    await checkProof(c, c.req.valid('json'));
    await sessions.begin(c, isSecure(c, deps));
    return c.body(null, 204);
  });

  app.openapi(sessionRoute, (c) => c.json({ signed_in: true as const }, 200));

  app.openapi(endSessionRoute, async (c) => {
    await sessions.end(c, isSecure(c, deps));
    return c.body(null, 204);
  });
}
