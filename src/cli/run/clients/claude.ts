/**
 * Claude Code reads the variables of its SDK, but those in its own settings win over them: where they lead to a gateway for
 * good, this start gets settings of its own, which win over both. In a file, since arguments can be read by others.
 */
import { join } from 'node:path';
import { type FileVariables, withoutTokenHeaders } from '../base-variables.ts';
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
  return Object.fromEntries(
    Object.entries(all).flatMap(([name, one]) =>
      ADDRESSES.includes(name) || name === HEADERS ? [[name, { ...one, isFirst: true }]] : [],
    ),
  );
}

export const claude: RunClient = {
  programs: ['claude'],
  packageName: '@anthropic-ai/claude-code',
  readVariables,
  add: (place) => {
    const { base, ownDir, args, traceId } = place;
    const lasting = readVariables(place);
    const led = ADDRESSES.filter((name) => lasting[name] !== undefined && base.set[name] !== undefined);
    // What stays where it is keeps its headers.
    const headers = ADDRESSES.some((name) => base.leftNames.includes(name)) ? undefined : lasting[HEADERS];
    const hasOwn = led.length > 0 || headers !== undefined;
    if (!hasOwn || args.some((argument) => /^--settings(?:=|$)/.test(argument))) return {};
    const own = {
      ...(headers === undefined ? {} : { [HEADERS]: withoutTokenHeaders(headers.value) }),
      ...Object.fromEntries(led.map((name) => [name, base.set[name]])),
    };
    const file = writeStartFile(ownDir, `${traceId}.json`, JSON.stringify({ env: own }));
    return { args: ['--settings', file], files: [file] };
  },
};
