/** Qwen Code: variables and headers in its `settings.json`. */
import { join } from 'node:path';
import { atHost } from '../../address-owner.ts';
import { valueAt } from '../locate.ts';
import type { SetupClient } from '../setup-client.ts';

const ADDRESS = ['env', 'OPENAI_BASE_URL'];
/** Gives way to the one above. */
const LOGIN = ['security', 'auth', 'baseUrl'];

export const qwen: SetupClient = {
  name: 'qwen',
  title: 'Qwen Code',
  listFiles: ({ origin, key, home, read, ownerOf }) => {
    const path = join(home, '.qwen', 'settings.json');
    const data = read(path, 'json');
    const addresses = [ADDRESS, LOGIN].map((place) => [place.at(-1), valueAt(data, place)] as const);
    return [
      {
        path,
        format: 'json',
        edits: [
          { path: ADDRESS, value: `${origin}/v1` },
          { path: ['model', 'generationConfig', 'customHeaders', 'X-Gateway-Key'], value: key },
        ],
        replaced: addresses
          .filter(([, address]) => ownerOf(address) === 'foreign')
          .map(([name, address]) => `${name}${atHost(address)}`),
      },
    ];
  },
  notes: ['It sends no id of its session: `tollgate run -- qwen` makes a run of each start.'],
};
