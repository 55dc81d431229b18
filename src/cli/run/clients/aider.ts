/**
 * aider reads the variables of LiteLLM, but sets those of `set-env` in its configuration itself: where they lead to a gateway
 * for good, a variable that wins over that list says it anew, with addresses of this start.
 */
import { join } from 'node:path';
import { valueAt } from '../../setup/locate.ts';
import { FORMATS } from '../../setup/registry.ts';
import { readUserFile } from '../../setup/user-file.ts';
import type { RunClient } from './run-client.ts';

const LIST_VARIABLE = 'AIDER_SET_ENV';
const PATHS: Readonly<Record<string, string>> = { OPENAI_API_BASE: '/v1', ANTHROPIC_API_BASE: '', GEMINI_API_BASE: '' };

function readPairs(path: string): readonly string[] | null {
  try {
    const pairs = valueAt(FORMATS.yaml.parse(readUserFile(path)?.text ?? ''), ['set-env']);
    return Array.isArray(pairs) ? pairs.map(String) : null;
  } catch {
    // aider says itself what is wrong with it.
    return null;
  }
}

export const aider: RunClient = {
  programs: ['aider'],
  add: ({ address, env, home, cwd }) => {
    // The one of the folder wins.
    const pairs = readPairs(join(cwd, '.aider.conf.yml')) ?? readPairs(join(home, '.aider.conf.yml')) ?? [];
    const led = pairs.map((pair) => {
      const [name = ''] = pair.split('=');
      return Object.hasOwn(PATHS, name) ? `${name}=${address}${PATHS[name]}` : pair;
    });
    if (env[LIST_VARIABLE] !== undefined || led.every((pair, index) => pair === pairs[index])) return {};
    return { env: { [LIST_VARIABLE]: `[${led.join(', ')}]` } };
  },
};
