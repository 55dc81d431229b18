/** What a start prints on stdout, once: where the gateway is, and a `curl` line that works. Not a log line. */

export interface Banner {
  readonly proxyOrigin: string;
  /** A link that signs in one browser, or just the address. */
  readonly dashboardUrl: string;
  /** Known at the first start only. */
  readonly firstKey: string | null;
  readonly demo: boolean;
  /** Makes of the words of a command what can be typed here. */
  readonly command: (words: string) => string;
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
  const key =
    banner.firstKey === null
      ? []
      : [
          '',
          '  Gateway key, shown only now; for what you find in README:',
          '',
          `  export TOLLGATE_KEY=${banner.firstKey}`,
        ];
  const lines = [
    'Tollgate is ready.',
    '',
    `  Base address  ${banner.proxyOrigin}`,
    `  Dashboard     ${banner.dashboardUrl}`,
    ...(isLink
      ? [`                (signs in one browser, within ten minutes; more links: ${banner.command('login')})`]
      : []),
    ...key,
    '',
    banner.demo ? '  Try it (a local fake provider answers, no provider key needed):' : '  Try it:',
    '',
    `  ${formatCurl(banner)}`,
    '',
    ...(banner.firstKey === null
      ? [
          '  The key is shown when it is made, and never again. No key at hand? This makes one:',
          '',
          `  export TOLLGATE_KEY=$(${banner.command('keys create laptop')})`,
          '',
        ]
      : []),
  ];
  return `${lines.join('\n')}\n`;
}
