/** The address by which a browser reaches the admin port, for links and cookies. */
import type { Context } from 'hono';
import type { AdminDeps } from './admin-deps.ts';
import { readPeer } from './peer.ts';

type PublicUrls = Pick<AdminDeps, 'adminPublicUrl' | 'publicUrl'>;

/** The address by which the client reached us, checked by the guard. */
function originOf(c: Context, { adminPublicUrl, publicUrl }: PublicUrls): string {
  const host = c.req.header('host') ?? '';
  for (const url of [adminPublicUrl, publicUrl])
    if (url !== null && new URL(url).host === host) return new URL(url).origin;
  return `${readPeer(c.env).isTls ? 'https' : 'http'}://${host}`;
}

/** For a link, which is mostly requested on this machine and opened elsewhere. */
export function readOrigin(c: Context, urls: PublicUrls): string {
  return urls.adminPublicUrl ?? originOf(c, urls);
}

/** The browser's own statement, else the name that it used. */
export function isSecure(c: Context, urls: PublicUrls): boolean {
  return (c.req.header('origin') ?? originOf(c, urls)).startsWith('https:');
}
