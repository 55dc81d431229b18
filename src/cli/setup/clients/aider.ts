/** aider: addresses as variables in its `.aider.conf.yml`, and the key as a header of all its models. */
import { join } from 'node:path';
import { valueAt } from '../locate.ts';
import type { SetupClient } from '../setup-client.ts';

const VARIABLES = 'set-env';

export const aider: SetupClient = {
  name: 'aider',
  title: 'aider',
  listFiles: ({ origin, key, home, read }) => {
    const config = join(home, '.aider.conf.yml');
    const former = valueAt(read(config, 'yaml'), [VARIABLES]);
    const ours = { OPENAI_API_BASE: `${origin}/v1`, ANTHROPIC_API_BASE: origin, GEMINI_API_BASE: origin };
    const kept = (Array.isArray(former) ? former.map(String) : []).filter(
      (pair) => !Object.hasOwn(ours, pair.split('=')[0] ?? ''),
    );
    return [
      {
        path: config,
        format: 'yaml',
        edits: [
          { path: [VARIABLES], value: [...kept, ...Object.entries(ours).map(([name, value]) => `${name}=${value}`)] },
        ],
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
