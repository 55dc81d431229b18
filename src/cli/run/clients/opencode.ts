/** opencode takes addresses from its configuration only, of which a variable can hold a part that wins over its files. */
import type { PROVIDERS } from '../../../providers/registry.ts';
import type { RunClient } from './run-client.ts';

/** opencode's names, and what it expects behind the address. */
const PATHS: readonly (readonly [name: string, provider: keyof typeof PROVIDERS, path: string])[] = [
  ['anthropic', 'anthropic', '/v1'],
  ['openai', 'openai', '/v1'],
  ['google', 'gemini', '/v1beta'],
  ['deepseek', 'deepseek', '/v1'],
  ['togetherai', 'together', '/v1'],
  ['fireworks-ai', 'fireworks', '/v1'],
];

const VARIABLE = 'OPENCODE_CONFIG_CONTENT';

export const opencode: RunClient = {
  programs: ['opencode'],
  add: ({ address, env }) => {
    if (env[VARIABLE] !== undefined) return {};
    const provider = Object.fromEntries(
      PATHS.map(([name, meant, path]) => [name, { options: { baseURL: `${address}.${meant}${path}` } }]),
    );
    return { env: { [VARIABLE]: JSON.stringify({ provider }) } };
  },
};
