/** aider: addresses as variables in its `.aider.conf.yml`, and the key as a header of all its models. */
import { join } from 'node:path';
import { atHost } from '../../address-owner.ts';
import { valueAt } from '../locate.ts';
import type { SetupClient } from '../setup-client.ts';

const VARIABLES = 'set-env';

export const aider: SetupClient = {
  name: 'aider',
  title: 'aider',
  listFiles: ({ origin, key, home, read, ownerOf }) => {
    const config = join(home, '.aider.conf.yml');
    const former = valueAt(read(config, 'yaml'), [VARIABLES]);
    const ours = { OPENAI_API_BASE: `${origin}/v1`, ANTHROPIC_API_BASE: origin, GEMINI_API_BASE: origin };
    const isOurs = (pair: string) => Object.hasOwn(ours, pair.split('=')[0] ?? '');
    const pairs = Array.isArray(former) ? former.map(String) : [];
    const kept = pairs.filter((pair) => !isOurs(pair));
    const replaced = pairs.filter(isOurs).flatMap((pair) => {
      const equals = pair.indexOf('=');
      const address = pair.slice(equals + 1);
      return ownerOf(address) === 'foreign' ? [`${pair.slice(0, equals)}${atHost(address)}`] : [];
    });
    return [
      {
        path: config,
        format: 'yaml',
        edits: [
          { path: [VARIABLES], value: [...kept, ...Object.entries(ours).map(([name, value]) => `${name}=${value}`)] },
        ],
        replaced,
      },
      {
        path: join(home, '.aider.model.settings.yml'),
        format: 'yaml',
        // aider's name for what holds for all models.
        edits: [
          { path: [{ name: 'aider/extra_params' }, 'extra_params', 'extra_headers', 'X-Gateway-Key'], value: key },
        ],
      },
    ];
  },
  notes: ['It sends no id of its session: `tollgate run -- aider` makes a run of each start.'],
};
