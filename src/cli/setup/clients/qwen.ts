/** Qwen Code: variables and headers in its `settings.json`. */
import { join } from 'node:path';
import type { SetupClient } from '../setup-client.ts';

export const qwen: SetupClient = {
  name: 'qwen',
  title: 'Qwen Code',
  listFiles: ({ origin, key, home }) => [
    {
      path: join(home, '.qwen', 'settings.json'),
      format: 'json',
      edits: [
        { path: ['env', 'OPENAI_BASE_URL'], value: `${origin}/v1` },
        { path: ['model', 'generationConfig', 'customHeaders', 'X-Gateway-Key'], value: key },
      ],
    },
  ],
  notes: ['It sends no id of its session: `tollgate run -- qwen` makes a run of each start.'],
};
