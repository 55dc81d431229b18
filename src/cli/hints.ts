/** Commands in messages (`tollgate logs`), as they can be typed in the shell that they are printed in. */
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import type { Environment } from '../vocabulary/config.ts';
import { readDataDir } from './find-gateway.ts';
import { createOwnCommand } from './own-command.ts';
import { quoteForShell } from './terminal-text.ts';

const COMMAND = /`tollgate ([^`\n]+)`/g;

interface Shell {
  readonly args: readonly string[];
  readonly env: Environment;
  readonly cwd: string;
}

/** `--flag value` or `--flag=value`; what stands behind `--` is another program's. */
function readFlag(args: readonly string[], flag: string): string | undefined {
  const end = args.indexOf('--');
  const own = end < 0 ? args : args.slice(0, end);
  const at = own.findIndex((argument) => argument === flag || argument.startsWith(`${flag}=`));
  return own[at]?.startsWith(`${flag}=`) ? own[at].slice(flag.length + 1) : at < 0 ? undefined : own[at + 1];
}

function readOwnDataDir({ args, env }: Shell): string {
  try {
    return readDataDir(readFlag(args, '--data-dir'), env);
  } catch {
    return '';
  }
}

/** Where the gateway was named by an address, so it is in the command. A token never is. */
export function nameCommands(text: string, shell: Shell): string {
  if (!text.includes('`tollgate ')) return text;
  const { args, env, cwd } = shell;
  const url = readFlag(args, '--url');
  const own = createOwnCommand({
    root: dirname(dirname(import.meta.dirname)),
    isClone: import.meta.filename.endsWith('.ts'),
    isService: false,
    cwd: env['INIT_CWD'] ?? cwd,
    hostname: hostname(),
    dataDir: readOwnDataDir(shell),
    env,
  });
  const ending = url === undefined ? '' : ` --url ${quoteForShell(url)}`;
  return text.replaceAll(COMMAND, (_, words: string) => `\`${own(words)}${ending}\``);
}

/** One command without quotes around it, for this process. */
export function ownCommand(words: string): string {
  return withOwnCommands(`\`tollgate ${words}\``).slice(1, -1);
}

/** For this process. */
export function withOwnCommands(text: string): string {
  return nameCommands(text, { args: process.argv.slice(2), env: process.env, cwd: process.cwd() });
}
