/** Codex takes its provider from its configuration, of which `-c` sets one value for one start. */
import { join } from 'node:path';
import { atHost } from '../../address-owner.ts';
import { valueAt } from '../../setup/locate.ts';
import { type FileVariables, nameInFile } from '../base-variables.ts';
import { readConfig, readEnvFile } from '../file-variables.ts';
import { RUN_TOKEN_VARIABLE, type RunClient, type RunPlace } from './run-client.ts';

const OWN = 'openai';

function folderOf({ env, home }: RunPlace): string {
  return env['CODEX_HOME'] ?? join(home, '.codex');
}

function readVariables(place: RunPlace): FileVariables {
  return readEnvFile(join(folderOf(place), '.env'));
}

/** The provider that its files choose, where its key is not for OpenAI; it comes with a program of its own, or an address. */
function findForeign(place: RunPlace): readonly string[] {
  const { cwd, ownerOf } = place;
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
  const owner = address === null && name !== OWN ? 'foreign' : ownerOf(address?.value);
  if (owner === null || owner === 'gateway' || owner === OWN) return [];
  return [nameInFile(`provider "${name}"${atHost(address?.value)}`, address?.path ?? chosen?.path ?? user)];
}

export const codex: RunClient = {
  programs: ['codex'],
  readVariables,
  add: (place) => {
    const { origin, env, ownerOf } = place;
    const left = findForeign(place);
    // Its key is then for that server.
    const owner = ownerOf(env['OPENAI_BASE_URL'] ?? readVariables(place)['OPENAI_BASE_URL']?.value);
    if (left.length > 0 || !(owner === null || owner === 'gateway' || owner === OWN)) return { left };
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
