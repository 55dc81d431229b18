/**
 * As process 1 of a container the gateway inherits every orphan, for example of a killed PostgreSQL. Node waits for its
 * own children only, so zombies would use up the container's limit on processes. So a shell, which reaps all, takes
 * this process's place, starts the gateway as its child, passes signals on and ends with its exit code.
 */
import { existsSync, readFileSync } from 'node:fs';

const SHELL = '/bin/sh';

/** `wait` returns early at a signal and says 127 for a known end. Shells give background processes no input. */
const SCRIPT = `
pass() { kill -s "$1" "$child" 2>/dev/null; isWaiting=1; }
for signal in TERM INT HUP QUIT USR1 USR2; do trap "pass $signal" "$signal"; done
"$@" <&0 &
child=$!
code=127
isWaiting=1
while [ "$isWaiting" = 1 ]; do
  isWaiting=0
  wait "$child"
  last=$?
  [ "$last" = 127 ] || code=$last
done
exit "$code"
`;

export interface OwnProcess {
  readonly pid: number;
  readonly execPath: string;
  readonly execArgv: readonly string[];
  readonly argv: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly execve?: (file: string, args: readonly string[], env: NodeJS.ProcessEnv) => never;
}

/** Node and programs on it, by process name: they reap no orphans. */
const NEVER_WAITS = /^(?:node|npm|npx|pnpm|yarn)\b/;

/**
 * Returns where this is not process 1, so also in the shell's child. False where orphans stay: a Node program or,
 * without a shell, this process is process 1. Call it before anything is opened.
 */
export function leaveReapingToShell(own: OwnProcess, shell = SHELL): boolean {
  if (own.pid !== 1) return !NEVER_WAITS.test(readFirstName());
  if (own.execve === undefined || !existsSync(shell)) return false;
  own.execve(shell, ['sh', '-c', SCRIPT, 'tollgate', own.execPath, ...own.execArgv, ...own.argv.slice(1)], own.env);
  return true;
}

function readFirstName(): string {
  try {
    return readFileSync('/proc/1/comm', 'utf8');
  } catch {
    return '';
  }
}
