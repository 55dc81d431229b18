/** Codex: a provider of its own in `config.toml`. */
import { join } from 'node:path';
import type { SetupClient } from '../setup-client.ts';

export const codex: SetupClient = {
  name: 'codex',
  title: 'Codex',
  listFiles: ({ origin, key, home, env, hasFile }) => {
    const dir = env['CODEX_HOME'] ?? join(home, '.codex');
    const hasLogin = hasFile(join(dir, 'auth.json'));
    return [
      {
        path: join(dir, 'config.toml'),
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
      },
    ];
  },
  notes: [
    'A login with ChatGPT calls another service than the API: sign in with an API key (`codex login --with-api-key`).',
  ],
};
