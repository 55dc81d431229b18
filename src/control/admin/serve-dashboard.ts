/** Serves the dashboard's document and assets without credentials; all data come from the API. */
import { createHash } from 'node:crypto';
import type { Context, MiddlewareHandler } from 'hono';
import { parseAccept } from 'hono/utils/accept';
import { type DashboardFile, type DashboardFiles, ENCODINGS, type Encoding } from './dashboard-files.ts';

/** Addresses of the dashboard's router, which a test compares; `:id` is one segment. */
export const PAGE_PATHS = [
  '/',
  '/login',
  '/start',
  '/runs',
  '/run',
  '/logs',
  '/log/:id',
  '/costs',
  '/metadata',
  '/budgets',
  '/brakes',
  '/prices',
  '/keys',
  '/people',
  '/audit',
  '/credentials',
  '/system',
] as const;

const LOG_PAGE = /^\/log\/[^/]+$/;

/** Inline styles are allowed, since the editor and the menus create style elements. */
const PAGE_POLICY = [
  "default-src 'self'",
  "img-src 'self' data: blob:",
  "style-src 'self' 'unsafe-inline'",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const MISSING_STYLE = `
body { font: 16px/1.6 system-ui, sans-serif; max-width: 42rem; margin: 4rem auto; padding: 0 1rem; color: #1c1f26; background: #fff }
code { font: 14px/1.6 ui-monospace, monospace; background: #f1f2f5; padding: .1em .35em; border-radius: 4px }
@media (prefers-color-scheme: dark) { body { color: #e6e8ec; background: #14161b } code { background: #23262e } }
`;

const MISSING_PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Tollgate</title>
<style>${MISSING_STYLE}</style>
</head>
<body>
<h1>Tollgate runs here</h1>
<p>This is the admin address, but its dashboard was not built. In the folder of the project run
<code>npm run build:dashboard</code>, then start the gateway again.</p>
<p>Until then the API under <code>/api/v1</code> and the command line (<code>tollgate --help</code>) show the same.
Model calls go to the other port, the base address that the start printed.</p>
</body>
</html>
`;

export function isPagePath(path: string): boolean {
  return PAGE_PATHS.some((page) => page === path) || LOG_PAGE.test(path);
}

/** Comes before the check of credentials and passes other requests on. */
export function serveDashboard(files: DashboardFiles | null): MiddlewareHandler {
  const digest = createHash('sha256').update(MISSING_STYLE).digest('base64');
  const missingPolicy = `default-src 'none'; style-src 'sha256-${digest}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
  const document = files?.get('/index.html');
  return async (c, next) => {
    const { path } = c.req;
    if (c.req.method !== 'GET' && c.req.method !== 'HEAD') return next();
    const isPage = isPagePath(path);
    const isAsset = path.startsWith('/assets/');
    if (isPage && document === undefined)
      return c.html(MISSING_PAGE, 503, { 'content-security-policy': missingPolicy });
    // As /index.html the document would be a page that the router does not know.
    const file = isPage ? document : path === '/index.html' ? undefined : files?.get(path);
    if (file !== undefined) return sendFile(c, file, 200);
    if (isAsset) return c.text('There is no such file; the dashboard was built anew. Load the page again.\n', 404);
    // A mistyped address shows the dashboard's "no such page".
    const isLost = !path.startsWith('/api/') && c.req.header('sec-fetch-mode') === 'navigate';
    return isLost && document !== undefined && !isServed(path) ? sendFile(c, document, 404) : next();
  };
}

/** Paths for machines, which a person may open. */
function isServed(path: string): boolean {
  return ['/healthz', '/readyz', '/metrics'].includes(path);
}

function sendFile(c: Context, file: DashboardFile, status: 200 | 404): Response {
  const encoding = chooseEncoding(file, c.req.header('accept-encoding'));
  const etag = encoding === null ? `"${file.hash}"` : `"${file.hash}-${encoding}"`;
  const headers: Record<string, string> = {
    etag,
    vary: 'accept-encoding',
    'cache-control': file.isHashed ? 'public, max-age=31536000, immutable' : 'no-cache',
    'content-security-policy': PAGE_POLICY,
  };
  if (status === 200 && isKnown(c.req.header('if-none-match'), etag)) return c.body(null, 304, headers);
  headers['content-type'] = file.contentType;
  if (encoding !== null) headers['content-encoding'] = encoding;
  const content = (encoding === null ? undefined : file.encoded.get(encoding)) ?? file.content;
  headers['content-length'] = String(content.byteLength);
  return c.body(content, status, headers);
}

function chooseEncoding(file: DashboardFile, accepted: string | undefined): Encoding | null {
  if (accepted === undefined || file.encoded.size === 0) return null;
  const wanted = parseAccept(accepted).filter(({ q }) => q > 0);
  const found = ENCODINGS.find(
    ({ name }) => file.encoded.has(name) && wanted.some(({ type }) => type.toLowerCase() === name),
  );
  return found?.name ?? null;
}

function isKnown(given: string | undefined, etag: string): boolean {
  const tags = (given ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return tags.includes(etag) || tags.includes('*');
}
