/** Cline's program: address and headers of each provider that it has been signed in to. */
import { join } from 'node:path';
import type { ProviderName } from '../../../providers/registry.ts';
import { OperatorError } from '../../../vocabulary/errors.ts';
import { atHost, leadAddress } from '../../address-owner.ts';
import { valueAt } from '../locate.ts';
import type { SetupClient } from '../setup-client.ts';

/** Cline's names, ours, and what it expects behind the address. Others have services of their own. */
const PROVIDERS_OF_CLINE: readonly (readonly [name: string, provider: ProviderName, path: string])[] = [
  ['anthropic', 'anthropic', '/v1'],
  ['openai', 'openai', '/v1'],
  ['openai-native', 'openai', '/v1'],
  ['gemini', 'gemini', '/v1beta'],
  ['deepseek', 'deepseek', '/v1'],
  ['together', 'together', '/v1'],
  ['fireworks', 'fireworks', '/v1'],
];

export const cline: SetupClient = {
  name: 'cline',
  title: 'Cline',
  listFiles: ({ origin, key, home, read, addressOf }) => {
    const path = join(home, '.cline', 'data', 'settings', 'providers.json');
    const known = valueAt(read(path, 'json'), ['providers']);
    const names = Object.keys(typeof known === 'object' && known !== null ? known : {});
    const found = PROVIDERS_OF_CLINE.filter(([name]) => names.includes(name)).map(([name, provider, usual]) => {
      const address = valueAt(known, [name, 'settings', 'baseUrl']);
      return { name, address, led: leadAddress(addressOf(address), { provider, path: usual }) };
    });
    if (found.length === 0)
      throw new OperatorError(`${path} has no provider yet; sign in first, such as \`cline auth -p anthropic\``);
    const edits = found.flatMap(({ name, led }) => {
      if (led === null) return [];
      const settings = ['providers', name, 'settings'];
      return [
        { path: [...settings, 'baseUrl'], value: `${origin}${led.path}` },
        { path: [...settings, 'headers', 'X-Gateway-Key'], value: key },
        ...(led.named === null ? [] : [{ path: [...settings, 'headers', 'X-Gateway-Provider'], value: led.named }]),
      ];
    });
    const left = found
      .filter(({ led }) => led === null)
      .map(({ name, address }) => `provider "${name}"${atHost(address)}`);
    return [{ path, format: 'json', edits, left }];
  },
  notes: [
    'It sends no id of its session: `tollgate run -- cline` makes a run of each start.',
    'In an editor, set address and headers in its “OpenAI Compatible” provider.',
  ],
};
