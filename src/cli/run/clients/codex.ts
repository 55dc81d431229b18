/** Codex takes its provider from its configuration, of which `-c` sets one value for one start. */
import { RUN_TOKEN_VARIABLE, type RunClient } from './run-client.ts';

export const codex: RunClient = {
  programs: ['codex'],
  add: ({ origin, env }) => {
    const provider = [
      'name="Tollgate"',
      `base_url="${origin}/v1"`,
      'wire_api="responses"',
      `env_http_headers={"X-Gateway-Key"="${RUN_TOKEN_VARIABLE}"}`,
      // Without a key in the environment it is the one that `codex login` has stored.
      env['OPENAI_API_KEY'] === undefined ? 'requires_openai_auth=true' : 'env_key="OPENAI_API_KEY"',
    ];
    return { args: ['-c', 'model_provider="tollgate"', '-c', `model_providers.tollgate={${provider.join(',')}}`] };
  },
};
