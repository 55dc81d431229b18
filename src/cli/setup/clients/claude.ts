/** Claude Code, and the Claude Agent SDK where it reads the user's settings: variables in `settings.json`. */
import { join } from 'node:path';
import { atHost, leadAnyway } from '../../address-owner.ts';
import { valueAt } from '../locate.ts';
import type { SetupClient } from '../setup-client.ts';

const HEADERS = ['env', 'ANTHROPIC_CUSTOM_HEADERS'];

/** The user's own headers stay; one a line. */
function withKey(headers: unknown, key: string, provider: string | null): string {
  const lines = typeof headers === 'string' && headers !== '' ? headers.split('\n') : [];
  const isOurs = provider === null ? /^\s*x-gateway-key\s*:/i : /^\s*x-gateway-(?:key|provider)\s*:/i;
  const ours = [`X-Gateway-Key: ${key}`, ...(provider === null ? [] : [`X-Gateway-Provider: ${provider}`])];
  return [...lines.filter((line) => !isOurs.test(line)), ...ours].join('\n');
}

export const claude: SetupClient = {
  name: 'claude',
  title: 'Claude Code',
  listFiles: ({ origin, key, home, env, read, addressOf }) => {
    const path = join(env['CLAUDE_CONFIG_DIR'] ?? join(home, '.claude'), 'settings.json');
    const isOnBedrock = env['CLAUDE_CODE_USE_BEDROCK'] !== undefined;
    const address = ['env', isOnBedrock ? 'ANTHROPIC_BEDROCK_BASE_URL' : 'ANTHROPIC_BASE_URL'];
    const data = read(path, 'json');
    const former = valueAt(data, address);
    const known = addressOf(former);
    const led = leadAnyway(known, { provider: isOnBedrock ? 'bedrock' : 'anthropic', path: '' });
    return [
      {
        path,
        format: 'json',
        edits: [
          { path: address, value: `${origin}${led.path}` },
          { path: HEADERS, value: withKey(valueAt(data, HEADERS), key, led.named) },
        ],
        replaced: known?.owner === 'foreign' ? [`${address[1]}${atHost(former)}`] : [],
      },
    ];
  },
  notes: ['A login with Claude and an API key both go on to Anthropic unchanged.'],
};
