/**
 * aider reads the variables of LiteLLM, but sets those of `set-env` in its configuration itself: where they lead to a gateway
 * for good, a variable that wins over that list says it anew, with addresses of this start.
 */
import { join } from 'node:path';
import { valueAt } from '../../setup/locate.ts';
import { type FileVariables, nameInFile } from '../base-variables.ts';
import { readConfig, readEnvFiles, variablesAt } from '../file-variables.ts';
import type { RunClient, RunPlace } from './run-client.ts';

const LIST_VARIABLE = 'AIDER_SET_ENV';
const PATHS: Readonly<Record<string, string>> = { OPENAI_API_BASE: '/v1', ANTHROPIC_API_BASE: '', GEMINI_API_BASE: '' };

interface Pair {
  readonly text: string;
  readonly name: string;
  readonly value: string;
}

/** The one of the folder wins. */
function readPairs({ home, cwd }: RunPlace): { readonly path: string; readonly pairs: readonly Pair[] } | null {
  for (const path of [join(cwd, '.aider.conf.yml'), join(home, '.aider.conf.yml')]) {
    const list = valueAt(readConfig(path, 'yaml'), ['set-env']);
    if (Array.isArray(list))
      return {
        path,
        pairs: list.map(String).map((text) => {
          const equals = text.indexOf('=');
          return { text, name: text.slice(0, Math.max(0, equals)), value: text.slice(equals + 1) };
        }),
      };
  }
  return null;
}

function readVariables(place: RunPlace): FileVariables {
  const { home, cwd, env } = place;
  const found = readPairs(place);
  const inList = Object.fromEntries((found?.pairs ?? []).map(({ name, value }) => [name, value]));
  const options = [join(home, '.aider.conf.yml'), join(cwd, '.aider.conf.yml')].map((path) =>
    variablesAt(path, { OPENAI_API_BASE: valueAt(readConfig(path, 'yaml'), ['openai-api-base']) }),
  );
  const option = variablesAt('AIDER_OPENAI_API_BASE', { OPENAI_API_BASE: env['AIDER_OPENAI_API_BASE'] });
  return Object.assign(
    {},
    readEnvFiles(cwd, ['.env'], home),
    ...options,
    option,
    found === null ? {} : variablesAt(found.path, inList),
  );
}

export const aider: RunClient = {
  programs: ['aider'],
  readVariables,
  add: (place) => {
    const { address, env, ownerOf } = place;
    const found = readPairs(place);
    if (found === null || env[LIST_VARIABLE] !== undefined) return {};
    const isAddress = ({ name }: Pair) => Object.hasOwn(PATHS, name);
    const isForeign = (pair: Pair) => isAddress(pair) && ownerOf(pair.value) === 'foreign';
    const led = found.pairs.map((pair) =>
      isAddress(pair) && !isForeign(pair) ? `${pair.name}=${address}${PATHS[pair.name]}` : pair.text,
    );
    const left = found.pairs.filter(isForeign).map(({ name }) => nameInFile(name, found.path));
    if (led.every((text, index) => text === found.pairs[index]?.text)) return { left };
    return { env: { [LIST_VARIABLE]: `[${led.join(', ')}]` }, left };
  },
};
