/** What a start prints on stdout, once: where the gateway is, and a `curl` line that works. Not a log line. */

export interface Banner {
  readonly proxyOrigin: string;
  /** A link that signs in one browser, or just the address. */
  readonly dashboardUrl: string;
  /** Known at the first start only. */
  readonly firstKey: string | null;
  readonly demo: boolean;
}

function formatCurl({ proxyOrigin, firstKey, demo }: Banner): string {
  const key = firstKey ?? '$TOLLGATE_KEY';
  const lines = [
    `curl ${proxyOrigin}/v1/chat/completions`,
    `-H "X-Gateway-Key: ${key}"`,
    demo ? '-H "X-Gateway-Provider-Alias: demo"' : '-H "Authorization: Bearer $OPENAI_API_KEY"',
    '-H "Content-Type: application/json"',
    `-d '{"model":"gpt-4o-mini","messages":[{"role":"user","content":"Hello"}]}'`,
  ];
  return lines.join(' \\\n    ');
}

export function formatBanner(banner: Banner): string {
  const isLink = banner.dashboardUrl.includes('#');
  const key = banner.firstKey === null ? [] : [`  Gateway key   ${banner.firstKey}   (shown only now)`];
  const lines = [
    'Tollgate is ready.',
    '',
    `  Base address  ${banner.proxyOrigin}`,
    `  Dashboard     ${banner.dashboardUrl}`,
    ...(isLink ? ['                (signs in one browser, within ten minutes; more links: npx tollgate login)'] : []),
    ...key,
    '',
    banner.demo ? '  Try it (a local fake provider answers, no provider key needed):' : '  Try it:',
    '',
    `  ${formatCurl(banner)}`,
    '',
    ...(banner.firstKey === null ? ['  No key at hand? npx tollgate keys create NAME', ''] : []),
  ];
  return `${lines.join('\n')}\n`;
}
