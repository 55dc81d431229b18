/**
 * As process 1 of a container the gateway inherits every orphan: the processes of a PostgreSQL that was killed, and
 * what others have left there. Node waits for none but its own children, so each would stay for good, against the
 * container's limit on processes. A shell waits for all: it takes this process's place, starts the gateway as its
 * child, passes signals on and ends with its exit code.
 */
import { existsSync, readFileSync } from 'node:fs';

const SHELL = '/bin/sh';

/**
 * `wait` returns early when a signal has come, and says 127 of a child whose end it has told already. The input is
 * named, since a shell gives its background processes none. What it waits for besides the child it forgets, which is
 * the point.
 */
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
  /** Puts another program in this process's place, and does not return. Absent where Node has it not. */
  readonly execve?: (file: string, args: readonly string[], env: NodeJS.ProcessEnv) => never;
}

/** Node and what runs on it, by the names that they give themselves: none of them waits for orphans. */
const NEVER_WAITS = /^(?:node|npm|npx|pnpm|yarn)\b/;

/**
 * Returns where this is not process 1, so also in the shell's child. False where orphans stay: another program on Node
 * is process 1, or this is and must remain so, for want of a shell. Call it before anything is opened.
 */
export function leaveReapingToShell(own: OwnProcess, shell = SHELL): boolean {
  if (own.pid !== 1) return !NEVER_WAITS.test(readFirstName());
  if (own.execve === undefined || !existsSync(shell)) return false;
  own.execve(shell, ['sh', '-c', SCRIPT, 'tollgate', own.execPath, ...own.execArgv, ...own.argv.slice(1)], own.env);
  return true;
}

/** Of process 1; empty where that is not told. */
function readFirstName(): string {
  try {
    return readFileSync('/proc/1/comm', 'utf8');
  } catch {
    return '';
  }
}
