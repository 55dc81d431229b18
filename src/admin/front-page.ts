/** The page at `/`: says what runs here and how to talk to it. Static; the dashboard will take its place. */
import { createHash } from 'node:crypto';
import type { OpenAPIHono } from '@hono/zod-openapi';

const STYLE = `
body { font: 16px/1.6 system-ui, sans-serif; max-width: 42rem; margin: 4rem auto; padding: 0 1rem; color: #1c1f26; background: #fff }
code { font: 14px/1.6 ui-monospace, monospace; background: #f1f2f5; padding: .1em .35em; border-radius: 4px }
dt { margin-top: .8rem } dd { margin: 0; color: #545b69 }
@media (prefers-color-scheme: dark) { body { color: #e6e8ec; background: #14161b } code { background: #23262e } dd { color: #a3a9b6 } }
`;

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Tollgate</title>
<style>${STYLE}</style>
</head>
<body>
<h1>Tollgate runs here</h1>
<p>This is the admin address. Model calls go to the other port, the base address that the start printed.</p>
<h2>API</h2>
<p>JSON under <code>/api/v1</code>, described at <code>/api/v1/openapi.json</code>.
Every request needs <code>Authorization: Bearer &lt;admin token&gt;</code>; the token is in <code>admin.json</code> of the
data directory.</p>
<h2>Command line</h2>
<dl>
<dt><code>tollgate keys create NAME</code></dt><dd>makes a gateway key and shows it once</dd>
<dt><code>tollgate logs --follow</code></dt><dd>shows calls as they come</dd>
<dt><code>tollgate runs</code>, <code>tollgate runs TRACE</code></dt><dd>lists runs; draws one as a tree with costs and times</dd>
<dt><code>tollgate doctor</code></dt><dd>says what works, what does not, and why calls were refused</dd>
</dl>
</body>
</html>
`;

/** Only exactly this style sheet, and nothing else: no script, no image, no other origin. */
function contentSecurityPolicy(): string {
  const digest = createHash('sha256').update(STYLE).digest('base64');
  return `default-src 'none'; style-src 'sha256-${digest}'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`;
}

export function addFrontPage(app: OpenAPIHono): void {
  const policy = contentSecurityPolicy();
  app.get('/', (c) => c.html(PAGE, 200, { 'content-security-policy': policy }));
}
