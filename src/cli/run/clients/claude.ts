/**
 * Claude Code reads the variables of its SDK, but those in its own settings win over them: where they lead to a gateway for
 * good, this start gets settings of its own, which win over both. In a file, since arguments can be read by others.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readCustomHeaders } from '../base-variables.ts';
import { writeStartFile } from '../start-files.ts';
import type { RunClient } from './run-client.ts';

const VARIABLES = ['ANTHROPIC_BASE_URL', 'ANTHROPIC_BEDROCK_BASE_URL', 'ANTHROPIC_CUSTOM_HEADERS'] as const;

function readVariables(path: string): Readonly<Record<string, string>> {
  try {
    const { env }: { env?: Record<string, unknown> } = JSON.parse(readFileSync(path, 'utf8'));
    return Object.fromEntries(
      VARIABLES.flatMap((name) => (typeof env?.[name] === 'string' ? [[name, env[name]]] : [])),
    );
  } catch {
    // Claude Code says itself what is wrong with them.
    return {};
  }
}

export const claude: RunClient = {
  programs: ['claude'],
  add: ({ address, env, ownDir, args, cwd, home, traceId }) => {
    const user = env['CLAUDE_CONFIG_DIR'] ?? join(home, '.claude');
    const files = [
      join(user, 'settings.json'),
      join(cwd, '.claude', 'settings.json'),
      join(cwd, '.claude', 'settings.local.json'),
    ];
    const lasting = Object.assign({}, ...files.map(readVariables));
    if (Object.keys(lasting).length === 0 || args.some((argument) => /^--settings(?:=|$)/.test(argument))) return {};
    const addresses = VARIABLES.filter((name) => name.endsWith('_BASE_URL') && lasting[name] !== undefined);
    const own = { ...readCustomHeaders(lasting), ...Object.fromEntries(addresses.map((name) => [name, address])) };
    const file = writeStartFile(ownDir, `${traceId}.json`, JSON.stringify({ env: own }));
    return { args: ['--settings', file], files: [file] };
  },
};
