/** Codex takes its provider from its configuration, of which `-c` sets one value for one start. */
import { join } from 'node:path';
import { atHost } from '../../address-owner.ts';
import { valueAt } from '../../setup/locate.ts';
import { type FileVariables, nameInFile } from '../base-variables.ts';
import { readConfig, readEnvFile } from '../file-variables.ts';
import { RUN_TOKEN_VARIABLE, type RunClient, type RunPlace } from './run-client.ts';

const OWN = 'openai';
const ADDRESS = 'OPENAI_BASE_URL';

function folderOf({ env, home }: RunPlace): string {
  return env['CODEX_HOME'] ?? join(home, '.codex');
}

function readVariables(place: RunPlace): FileVariables {
  return readEnvFile(join(folderOf(place), '.env'));
}

/** The provider that its files choose, where its key is not for OpenAI; it comes with a program of its own, or an address. */
function findForeign(place: RunPlace): readonly string[] {
  const { cwd, addressOf } = place;
  const user = folderOf(place);
  const files = [join(user, 'config.toml'), join(cwd, '.codex', 'config.toml')].map((path) => ({
    path,
    data: readConfig(path, 'toml'),
  }));
  const find = (...at: string[]) => {
    const found = files.findLast(({ data }) => valueAt(data, at) !== undefined);
    return found === undefined ? null : { path: found.path, value: valueAt(found.data, at) };
  };
  const chosen = find('model_provider');
  const name = typeof chosen?.value === 'string' ? chosen.value : OWN;
  const inTable = find('model_providers', name, 'base_url');
  const address = inTable ?? (name === OWN ? find('openai_base_url') : null);
  // Others than its own have an address, or are programs on this machine.
  const owner = address === null && name !== OWN ? 'foreign' : (addressOf(address?.value)?.owner ?? null);
  if (owner === null || owner === 'gateway' || owner === OWN) return [];
  return [nameInFile(`provider "${name}"${atHost(address?.value)}`, address?.path ?? chosen?.path ?? user)];
}

export const codex: RunClient = {
  programs: ['codex'],
  packageName: '@openai/codex',
  readVariables,
  add: (place) => {
    const { origin, env, addressOf } = place;
    const left = findForeign(place);
    if (left.length > 0) return { left };
    const own = addressOf(env[ADDRESS] ?? readVariables(place)[ADDRESS]?.value)?.owner ?? null;
    // The key in the environment is then for that server, and Codex asks OpenAI with it: that variable it does not read.
    if (own === 'foreign') return {};
    if (own !== null && own !== 'gateway' && own !== OWN)
      return {
        note: `Codex is not led here: ${ADDRESS} is an address of ${own}, so that the key beside it is not for OpenAI; name that provider in Codex's own configuration, or take the variable away`,
      };
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
