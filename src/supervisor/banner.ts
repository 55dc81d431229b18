/** What a start prints on stdout, once: the addresses, and a `curl` line that works. */
import type { NodeRole } from '../vocabulary/config.ts';

export interface Banner {
  readonly role: NodeRole;
  /** Null: this node takes no calls, and its settings name no node that does. */
  readonly proxyOrigin: string | null;
  readonly dashboardUrl: string | null;
  readonly firstKey: string | null;
  readonly demo: boolean;
  readonly command: (words: string) => string;
}

const TITLES: Readonly<Record<NodeRole, string>> = {
  all: 'Tollgate is ready.',
  proxy: 'Tollgate is ready, as a node that only takes calls (role proxy).',
  control: 'Tollgate is ready, as a node that takes no calls (role control).',
};

const NO_ORIGIN = 'the address of your nodes with the role proxy: say it with TOLLGATE_PUBLIC_URL';
const NO_DASHBOARD = 'at a node with the role control, where keys are made, too';

function formatCurl(proxyOrigin: string, { firstKey, demo }: Banner): string {
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

function formatTrial(banner: Banner): readonly string[] {
  const { role, proxyOrigin, firstKey, demo, command } = banner;
  if (proxyOrigin === null) return [];
  const isKeyMadeHere = firstKey === null && role !== 'proxy';
  return [
    demo ? '  Try it (a local fake provider answers, no provider key needed):' : '  Try it:',
    '',
    `  ${formatCurl(proxyOrigin, banner)}`,
    '',
    ...(isKeyMadeHere
      ? [
          '  The key is shown when it is made, and never again. No key at hand? This makes one:',
          '',
          `  export TOLLGATE_KEY=$(${command('keys create laptop')})`,
          '',
        ]
      : []),
  ];
}

function formatKey(firstKey: string | null): readonly string[] {
  if (firstKey === null) return [];
  return ['', '  Gateway key, shown only now; for what you find in README:', '', `  export TOLLGATE_KEY=${firstKey}`];
}

export function formatBanner(banner: Banner): string {
  const { role, proxyOrigin, dashboardUrl, firstKey, command } = banner;
  const isLink = dashboardUrl?.includes('#') === true;
  const lines = [
    TITLES[role],
    '',
    `  Base address  ${proxyOrigin ?? NO_ORIGIN}`,
    `  Dashboard     ${dashboardUrl ?? NO_DASHBOARD}`,
    ...(isLink ? [`                (signs in one browser, within ten minutes; more links: ${command('login')})`] : []),
    ...formatKey(firstKey),
    '',
    ...formatTrial(banner),
  ];
  return `${lines.join('\n')}\n`;
}
