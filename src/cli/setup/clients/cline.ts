/** Cline's program: address and headers of each provider that it has been signed in to. */
import { join } from 'node:path';
import { OperatorError } from '../../../vocabulary/errors.ts';
import { atHost } from '../../address-owner.ts';
import { readLedAddress } from '../led-address.ts';
import { valueAt } from '../locate.ts';
import type { SetupClient } from '../setup-client.ts';

/** Cline's names, and what it expects behind the address. Others have services of their own. */
const PATHS: Readonly<Record<string, string>> = {
  anthropic: '/v1',
  openai: '/v1',
  'openai-native': '/v1',
  gemini: '/v1beta',
  deepseek: '/v1',
  together: '/v1',
  fireworks: '/v1',
};
/** Where the path does not tell. */
const NAMED = ['deepseek', 'together', 'fireworks'];

export const cline: SetupClient = {
  name: 'cline',
  title: 'Cline',
  listFiles: ({ origin, key, home, read, ownerOf }) => {
    const path = join(home, '.cline', 'data', 'settings', 'providers.json');
    const known = valueAt(read(path, 'json'), ['providers']);
    const names = Object.keys(typeof known === 'object' && known !== null ? known : {}).filter((name) =>
      Object.hasOwn(PATHS, name),
    );
    if (names.length === 0)
      throw new OperatorError(`${path} has no provider yet; sign in first, such as \`cline auth -p anthropic\``);
    const found = names.map((name) => {
      const address = valueAt(known, [name, 'settings', 'baseUrl']);
      return { name, address, owner: ownerOf(address) };
    });
    const edits = found.flatMap(({ name, address, owner }) => {
      if (owner === 'foreign') return [];
      const usual = { path: PATHS[name] ?? '', named: NAMED.includes(name) ? name : null };
      const led = readLedAddress(address, owner, name.replace(/-native$/, ''), usual);
      const settings = ['providers', name, 'settings'];
      return [
        { path: [...settings, 'baseUrl'], value: `${origin}${led.path}` },
        { path: [...settings, 'headers', 'X-Gateway-Key'], value: key },
        ...(led.named === null ? [] : [{ path: [...settings, 'headers', 'X-Gateway-Provider'], value: led.named }]),
      ];
    });
    const left = found
      .filter(({ owner }) => owner === 'foreign')
      .map(({ name, address }) => `provider "${name}"${atHost(address)}`);
    return [{ path, format: 'json', edits, left }];
  },
  notes: [
    'It sends no id of its session: `tollgate run -- cline` makes a run of each start.',
    'In an editor, set address and headers in its “OpenAI Compatible” provider.',
  ],
};
