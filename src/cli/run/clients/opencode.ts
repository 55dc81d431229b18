/** opencode takes addresses from its configuration only, of which a variable can hold a part that wins over its files. */
import { join } from 'node:path';
import type { PROVIDERS } from '../../../providers/registry.ts';
import { atHost, leadAddress } from '../../address-owner.ts';
import { valueAt } from '../../setup/locate.ts';
import { nameInFile } from '../base-variables.ts';
import { foldersUp, readConfig } from '../file-variables.ts';
import type { RunClient, RunPlace } from './run-client.ts';

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
const NAMES = ['config.json', 'opencode.json', 'opencode.jsonc'];

/** Its files, of which the last wins. */
function listFiles({ env, home, cwd }: RunPlace): readonly string[] {
  const user = join(env['XDG_CONFIG_HOME'] ?? join(home, '.config'), 'opencode');
  const folders = foldersUp(cwd).toReversed();
  return [
    ...NAMES.map((name) => join(user, name)),
    ...[env['OPENCODE_CONFIG']].filter((path) => path !== undefined),
    ...folders.flatMap((folder) =>
      [folder, join(folder, '.opencode')].flatMap((dir) => NAMES.map((name) => join(dir, name))),
    ),
    ...[env['OPENCODE_CONFIG_DIR']].flatMap((dir) => (dir === undefined ? [] : NAMES.map((name) => join(dir, name)))),
  ];
}

export const opencode: RunClient = {
  programs: ['opencode'],
  packageName: 'opencode-ai',
  add: (place) => {
    const { address, env, addressOf } = place;
    if (env[VARIABLE] !== undefined) return {};
    const files = listFiles(place).map((path) => ({ path, data: readConfig(path, 'json') }));
    const left: string[] = [];
    const led = PATHS.flatMap(([name, provider, path]) => {
      const said = files.flatMap((file) => {
        const value = valueAt(file.data, ['provider', name, 'options', 'baseURL']);
        const known = addressOf(value);
        return known === null ? [] : [{ path: file.path, value, known }];
      });
      const foreign = said.find(({ known }) => known.owner === 'foreign');
      if (foreign !== undefined) left.push(nameInFile(`provider "${name}"${atHost(foreign.value)}`, foreign.path));
      const to = leadAddress(foreign?.known ?? said.at(-1)?.known ?? null, { provider, path });
      return to === null ? [] : [[name, { options: { baseURL: `${address}.${to.provider}${to.path}` } }]];
    });
    return { env: { [VARIABLE]: JSON.stringify({ provider: Object.fromEntries(led) }) }, left };
  },
};
