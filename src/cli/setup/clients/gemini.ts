/** Gemini CLI: variables in its `.env`, and the settings that say that there is an API key. */
import { join } from 'node:path';
import { atHost, leadAnyway } from '../../address-owner.ts';
import { valueAt } from '../locate.ts';
import type { SetupClient } from '../setup-client.ts';

const ADDRESS = ['GOOGLE_GEMINI_BASE_URL'];
const HEADERS = ['GEMINI_CLI_CUSTOM_HEADERS'];

/** The user's own headers stay, with a comma in between. */
function withKey(headers: unknown, key: string, provider: string | null): string {
  const all = typeof headers === 'string' && headers !== '' ? headers.split(/,\s*(?=[\w-]+\s*:)/) : [];
  const isOurs = provider === null ? /^\s*x-gateway-key\s*:/i : /^\s*x-gateway-(?:key|provider)\s*:/i;
  const ours = [`X-Gateway-Key: ${key}`, ...(provider === null ? [] : [`X-Gateway-Provider: ${provider}`])];
  return [...all.filter((header) => !isOurs.test(header)), ...ours].join(', ');
}

export const gemini: SetupClient = {
  name: 'gemini',
  title: 'Gemini CLI',
  listFiles: ({ origin, key, home, env, read, addressOf }) => {
    const dir = join(env['GEMINI_CLI_HOME'] ?? home, '.gemini');
    const variables = join(dir, '.env');
    const data = read(variables, 'env');
    const former = valueAt(data, ADDRESS);
    const known = addressOf(former);
    const led = leadAnyway(known, { provider: 'gemini', path: '' });
    return [
      {
        path: variables,
        format: 'env',
        edits: [
          { path: ADDRESS, value: `${origin}${led.path}` },
          { path: HEADERS, value: withKey(valueAt(data, HEADERS), key, led.named) },
        ],
        replaced: known?.owner === 'foreign' ? [`${ADDRESS[0]}${atHost(former)}`] : [],
      },
      {
        // The address alone would make it ask for a login of another kind.
        path: join(dir, 'settings.json'),
        format: 'json',
        edits: [{ path: ['security', 'auth', 'selectedType'], value: 'gemini-api-key' }],
      },
    ];
  },
  notes: [
    'It needs GEMINI_API_KEY; a login with Google calls another service than the API.',
    'Where a folder has an .env of its own, or is not trusted, Gemini CLI does not read this one.',
    'It sends no id of its session: `tollgate run -- gemini` makes a run of each start.',
  ],
};
