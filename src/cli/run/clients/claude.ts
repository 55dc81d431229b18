/**
 * Claude Code reads the variables of its SDK, but those in its own settings win over them: where they lead to a gateway for
 * good, this start gets settings of its own, which win over both. In a file, since arguments can be read by others.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readCustomHeaders } from '../base-variables.ts';
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
    mkdirSync(ownDir, { recursive: true, mode: 0o700 });
    const file = join(ownDir, `claude-${traceId}.json`);
    writeFileSync(file, JSON.stringify({ env: own }), { mode: 0o600 });
    return { args: ['--settings', file], files: [file] };
  },
};
