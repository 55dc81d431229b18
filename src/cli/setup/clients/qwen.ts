/** Qwen Code: variables and headers in its `settings.json`. */
import { join } from 'node:path';
import { atHost, leadAnyway } from '../../address-owner.ts';
import { valueAt } from '../locate.ts';
import type { SetupClient } from '../setup-client.ts';

const ADDRESS = ['env', 'OPENAI_BASE_URL'];
/** Gives way to the one above. */
const LOGIN = ['security', 'auth', 'baseUrl'];

export const qwen: SetupClient = {
  name: 'qwen',
  title: 'Qwen Code',
  listFiles: ({ origin, key, home, read, addressOf }) => {
    const path = join(home, '.qwen', 'settings.json');
    const data = read(path, 'json');
    const addresses = [ADDRESS, LOGIN].map((place) => {
      const address = valueAt(data, place);
      return { name: place.at(-1), address, known: addressOf(address) };
    });
    const first = addresses.find(({ known }) => known !== null)?.known ?? null;
    const led = leadAnyway(first, { provider: 'openai', path: '/v1' });
    const headers = ['model', 'generationConfig', 'customHeaders'];
    return [
      {
        path,
        format: 'json',
        edits: [
          { path: ADDRESS, value: `${origin}${led.path}` },
          { path: [...headers, 'X-Gateway-Key'], value: key },
          ...(led.named === null ? [] : [{ path: [...headers, 'X-Gateway-Provider'], value: led.named }]),
        ],
        replaced: addresses
          .filter(({ known }) => known?.owner === 'foreign')
          .map(({ name, address }) => `${name}${atHost(address)}`),
      },
    ];
  },
  notes: ['It sends no id of its session: `tollgate run -- qwen` makes a run of each start.'],
};
