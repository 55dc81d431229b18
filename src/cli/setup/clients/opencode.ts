/** opencode: address and headers of each provider in `opencode.json`; the key in a file that it names, as its documentation says. */
import { join } from 'node:path';
import type { PROVIDERS } from '../../../providers/registry.ts';
import { atHost, leadAddress } from '../../address-owner.ts';
import { valueAt } from '../locate.ts';
import type { SetupClient } from '../setup-client.ts';

/** opencode's names, ours where the path does not tell, and what it expects behind the address. */
const PROVIDERS_OF_OPENCODE: readonly (readonly [name: string, provider: keyof typeof PROVIDERS, path: string])[] = [
  ['anthropic', 'anthropic', '/v1'],
  ['openai', 'openai', '/v1'],
  ['google', 'gemini', '/v1beta'],
  ['deepseek', 'deepseek', '/v1'],
  ['togetherai', 'together', '/v1'],
  ['fireworks-ai', 'fireworks', '/v1'],
];

export const opencode: SetupClient = {
  name: 'opencode',
  title: 'opencode',
  listFiles: ({ origin, key, home, env, ownDir, hasFile, read, addressOf }) => {
    const dir = join(env['XDG_CONFIG_HOME'] ?? join(home, '.config'), 'opencode');
    const files = ['opencode.jsonc', 'opencode.json'].map((name) => join(dir, name));
    const keyFile = join(ownDir, 'keys', 'opencode');
    const config = files.find(hasFile) ?? join(dir, 'opencode.json');
    const data = read(config, 'json');
    const found = PROVIDERS_OF_OPENCODE.map(([name, provider, path]) => {
      const address = valueAt(data, ['provider', name, 'options', 'baseURL']);
      return { name, address, led: leadAddress(addressOf(address), { provider, path }) };
    });
    return [
      { path: keyFile, format: 'whole', edits: [{ path: [], value: key }] },
      {
        path: config,
        format: 'json',
        edits: found.flatMap(({ name, led }) => {
          const options = ['provider', name, 'options'];
          if (led === null) return [];
          return [
            { path: [...options, 'baseURL'], value: `${origin}${led.path}` },
            { path: [...options, 'headers', 'X-Gateway-Key'], value: `{file:${keyFile}}` },
            { path: [...options, 'headers', 'X-Gateway-Provider'], value: led.provider },
          ];
        }),
        left: found
          .filter(({ led }) => led === null)
          .map(({ name, address }) => `provider "${name}"${atHost(address)}`),
      },
    ];
  },
};
