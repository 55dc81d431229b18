/** What precedes every route: security headers, Host and Origin check, credentials unless it is in PUBLIC_ROUTES. */
import { isIP } from 'node:net';
import type { Context, MiddlewareHandler } from 'hono';
import { ApiError } from './api-error.ts';
import type { Identify } from './identify.ts';
import { readPeer } from './peer.ts';
import { type Principal, principalOf } from './principal.ts';
import { isPagePath } from './serve-dashboard.ts';
import type { Sessions } from './session.ts';
import { createSessionWatch } from './session-watch.ts';
import type { TokenCheck } from './token-check.ts';

/** The identity provider, another site, sends browsers back here. */
export const OIDC_CALLBACK_PATH = '/api/v1/oidc/callback';

/** Liveness says nothing of anyone; signing in brings its own proof. */
export const PUBLIC_ROUTES: readonly string[] = [
  'GET /healthz',
  'GET /readyz',
  'POST /api/v1/session',
  'GET /api/v1/sign-in-ways',
  'GET /api/v1/oidc/sign-in',
  'GET /api/v1/oidc/sign-out',
  `GET ${OIDC_CALLBACK_PATH}`,
];

export const METRICS_PATH = '/metrics';

/** Opened by read tokens only, which open nothing else; it checks them itself. */
export const MCP_PATH = '/mcp';

const LOOPBACK_NAMES: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];

const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
};

export function addSecurityHeaders(): MiddlewareHandler {
  return async (c, next) => {
    await next();
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) if (!c.res.headers.has(name)) c.header(name, value);
  };
}

function hostNameOf(host: string): string | null {
  try {
    return new URL(`http://${host}`).hostname;
  } catch {
    return null;
  }
}

function bracketed(host: string): string {
  return isIP(host) === 6 ? `[${host}]` : host.toLowerCase();
}

function isIpHost(name: string): boolean {
  return isIP(name.replace(/^\[|\]$/g, '')) !== 0;
}

export interface GuardOptions {
  readonly adminHost: string;
  readonly adminPublicUrl: string | null;
  readonly publicUrl: string | null;
  readonly adminToken: string;
  /** Opens `METRICS_PATH` only. */
  readonly metricsToken: string | null;
}

/** Accepts this gateway's names. Bound to all addresses, it accepts any address, which no rebinding uses. */
function createNameCheck({ adminHost }: GuardOptions, publicUrls: readonly URL[]): (name: string) => boolean {
  const isAnyAddress = adminHost === '0.0.0.0' || adminHost === '::';
  const names = new Set([...LOOPBACK_NAMES, bracketed(adminHost), ...publicUrls.map(({ hostname }) => hostname)]);
  return (name) => names.has(name) || (isAnyAddress && isIpHost(name));
}

export function checkHostAndOrigin(options: GuardOptions): MiddlewareHandler {
  const publicUrls = [options.adminPublicUrl, options.publicUrl].flatMap((url) => (url === null ? [] : [new URL(url)]));
  const isOurs = createNameCheck(options, publicUrls);
  return async (c, next) => {
    const host = c.req.header('host') ?? '';
    const name = hostNameOf(host);
    if (name === null || !isOurs(name))
      throw new ApiError(
        421,
        'host_unknown',
        'This host name is not one of the gateway. Set TOLLGATE_ADMIN_PUBLIC_URL to the address that browsers use, and let a proxy in front pass on the Host that they send.',
      );
    const origin = c.req.header('origin');
    const isOwnOrigin =
      origin === undefined ||
      publicUrls.some((url) => url.origin === origin) ||
      origin === `http://${host}` ||
      origin === `https://${host}`;
    // Another site may link to the dashboard, but its pages may not use the API.
    const isReading = c.req.method === 'GET' || c.req.method === 'HEAD';
    const isOpening = isReading && (isPagePath(c.req.path) || c.req.path === OIDC_CALLBACK_PATH);
    const isCrossSite = c.req.header('sec-fetch-site') === 'cross-site' && !isOpening;
    if (!isOwnOrigin || isCrossSite)
      throw new ApiError(403, 'origin_forbidden', 'Pages of other sites may not use the admin API.');
    await next();
  };
}

/** Other local programs share the cookie's site, so it counts only from our pages; a change must name its page. */
function isFromOwnPage(c: Context): boolean {
  const site = c.req.header('sec-fetch-site');
  if (c.req.method !== 'GET' && c.req.method !== 'HEAD' && c.req.header('origin') === undefined) return false;
  return site === undefined || site === 'same-origin' || site === 'none';
}

export function refuseGuesses(c: Context, waitMs: number): never {
  c.header('retry-after', String(Math.ceil(waitMs / 1_000)));
  throw new ApiError(
    429,
    'too_many_attempts',
    'Too many wrong tokens from this address. Wait a minute, or sign in with a link: `tollgate login`',
  );
}

export function readBearer(authorization: string | undefined): string | undefined {
  return /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
}

export function requireCredentials(
  options: GuardOptions,
  sessions: Sessions,
  tokens: TokenCheck,
  identify: Identify,
): MiddlewareHandler {
  /** Null without credentials of a session. */
  async function readSession(c: Context): Promise<Principal | null> {
    const session = await sessions.read(c);
    if (session === null) return null;
    const { holder } = session;
    if (holder === null) return identify.operator(c, true);
    return 'linkDigest' in holder ? identify.link(c, holder) : identify.person(c, holder);
  }

  /** Whether the credentials of a long answer still hold, and in the same account. */
  async function stillHolds(c: Context): Promise<boolean> {
    const before = principalOf(c);
    const token = readBearer(c.req.header('authorization'));
    const now = token === undefined ? await readSession(c) : await identify.token(c, token);
    return now !== null && now.accountId === before.accountId && now.mayReadBodies === before.mayReadBodies;
  }

  const watch = createSessionWatch(stillHolds);
  return async (c, next) => {
    const method = c.req.method === 'HEAD' ? 'GET' : c.req.method;
    if (PUBLIC_ROUTES.includes(`${method} ${c.req.path}`)) return next();
    const { client, prove } = readPeer(c.env);
    const authorization = c.req.header('authorization');
    const signedIn = authorization === undefined ? await readSession(c) : null;
    if (signedIn !== null) {
      prove();
      if (isFromOwnPage(c)) {
        c.set('principal', signedIn);
        watch.follow(c);
        return next();
      }
      throw new ApiError(403, 'origin_forbidden', 'A session counts only for requests from the dashboard’s own pages.');
    }
    if (c.req.path === MCP_PATH) return next();
    const token = readBearer(authorization);
    if (token !== undefined) {
      const byToken = await identify.token(c, token);
      if (byToken !== null) {
        prove();
        c.set('principal', byToken);
        watch.follow(c);
        return next();
      }
      const isForMetrics = c.req.path === METRICS_PATH && method === 'GET' && options.metricsToken !== null;
      const expected = isForMetrics ? [options.adminToken, options.metricsToken] : [options.adminToken];
      const verdict = tokens.judge(token, expected, client);
      if (verdict.kind === 'right') {
        prove();
        c.set('principal', await identify.operator(c, false));
        return next();
      }
      if (verdict.kind === 'limited') refuseGuesses(c, verdict.waitMs);
    }
    c.header('www-authenticate', 'Bearer');
    throw new ApiError(
      401,
      'unauthorized',
      'Sign in with `tollgate login`, or send the admin token as Authorization: Bearer; it is in admin.json of the data directory.',
    );
  };
}
