/**
 * Claude Code reads the variables of its SDK, but those in its own settings win over them: where they lead to a gateway for
 * good, this start gets settings of its own, which win over both. In a file, since arguments can be read by others.
 */
import { join } from 'node:path';
import { type FileVariables, nameInFile, readCustomHeaders } from '../base-variables.ts';
import { settingsVariables } from '../file-variables.ts';
import { writeStartFile } from '../start-files.ts';
import type { RunClient, RunPlace } from './run-client.ts';

const ADDRESSES: readonly string[] = ['ANTHROPIC_BASE_URL', 'ANTHROPIC_BEDROCK_BASE_URL'];
const HEADERS = 'ANTHROPIC_CUSTOM_HEADERS';

function readVariables({ env, home, cwd }: RunPlace): FileVariables {
  const user = env['CLAUDE_CONFIG_DIR'] ?? join(home, '.claude');
  const files = [
    join(user, 'settings.json'),
    join(cwd, '.claude', 'settings.json'),
    join(cwd, '.claude', 'settings.local.json'),
  ];
  const all: FileVariables = Object.assign({}, ...files.map(settingsVariables));
  return Object.fromEntries(Object.entries(all).filter(([name]) => ADDRESSES.includes(name) || name === HEADERS));
}

export const claude: RunClient = {
  programs: ['claude'],
  readVariables,
  add: (place) => {
    const { address, ownDir, args, traceId, ownerOf } = place;
    const lasting = readVariables(place);
    const given = Object.entries(lasting).filter(([name]) => ADDRESSES.includes(name));
    const [foreign, led] = [true, false].map((is) =>
      given.filter(([, { value }]) => (ownerOf(value) === 'foreign') === is),
    );
    const left = (foreign ?? []).map(([name, { path }]) => nameInFile(name, path));
    const headers = lasting[HEADERS];
    const hasOwn = (led ?? []).length > 0 || (headers !== undefined && left.length === 0);
    if (!hasOwn || args.some((argument) => /^--settings(?:=|$)/.test(argument))) return { left };
    const own = {
      ...(headers === undefined ? {} : readCustomHeaders({ [HEADERS]: headers.value })),
      ...Object.fromEntries((led ?? []).map(([name]) => [name, address])),
    };
    const file = writeStartFile(ownDir, `${traceId}.json`, JSON.stringify({ env: own }));
    return { args: ['--settings', file], files: [file], left };
  },
};
