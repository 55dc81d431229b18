/** Codex: a provider of its own in `config.toml`. */
import { join } from 'node:path';
import { atHost } from '../../address-owner.ts';
import { valueAt } from '../locate.ts';
import type { SetupClient } from '../setup-client.ts';

/** The provider that it has by itself. */
const OWN = 'openai';

export const codex: SetupClient = {
  name: 'codex',
  title: 'Codex',
  listFiles: ({ origin, key, home, env, hasFile, read, addressOf }) => {
    const dir = env['CODEX_HOME'] ?? join(home, '.codex');
    const hasLogin = hasFile(join(dir, 'auth.json'));
    const path = join(dir, 'config.toml');
    const data = read(path, 'toml');
    const name = valueAt(data, ['model_provider']) ?? OWN;
    const inTable = valueAt(data, ['model_providers', String(name), 'base_url']);
    const former = inTable ?? (name === OWN ? valueAt(data, ['openai_base_url']) : undefined);
    const owner = addressOf(former)?.owner ?? (name === OWN ? OWN : 'foreign');
    return [
      {
        path,
        format: 'toml',
        edits: [
          { path: ['model_provider'], value: 'tollgate' },
          {
            path: ['model_providers', 'tollgate'],
            value: {
              name: 'Tollgate',
              base_url: `${origin}/v1`,
              wire_api: 'responses',
              // The key that `codex login` has stored, or the variable's.
              ...(hasLogin ? { requires_openai_auth: true } : { env_key: 'OPENAI_API_KEY' }),
              http_headers: { 'X-Gateway-Key': key },
            },
          },
        ],
        // The key that Codex then sends is the one for OpenAI.
        replaced: owner !== OWN && owner !== 'gateway' ? [`the provider "${String(name)}"${atHost(former)}`] : [],
      },
    ];
  },
  notes: [
    'A login with ChatGPT calls another service than the API: sign in with an API key (`codex login --with-api-key`).',
  ],
};
