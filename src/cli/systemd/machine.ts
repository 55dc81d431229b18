/** The machine beyond its files: users and systemd's programs. */
import { spawnSync } from 'node:child_process';
import { chownSync, statSync } from 'node:fs';
import { OperatorError } from '../../vocabulary/errors.ts';

const RUN_LIMIT_MS = 30 * 60_000;

export interface Machine {
  /** The folder that stands for `/`; empty for the real machine. */
  readonly root: string;
  readonly hasUser: (name: string) => boolean;
  /** Gives a path to the user or, as `group`, to root and the user's group. */
  readonly give: (path: string, user: string, as: 'owner' | 'group') => void;
  readonly isOwnedBy: (path: string, user: string) => boolean;
  /** Shows the program's output; throws when it fails. */
  readonly run: (program: string, args: readonly string[]) => void;
}

function readId(flag: '-u' | '-g', user: string): number | null {
  const { status, stdout } = spawnSync('id', [flag, user], { encoding: 'utf8' });
  return status === 0 ? Number(stdout) : null;
}

export function createMachine(): Machine {
  return {
    root: '',
    hasUser: (name) => readId('-u', name) !== null,
    give: (path, user, as) => {
      const [uid, gid] = [readId('-u', user), readId('-g', user)];
      if (uid === null || gid === null) throw new OperatorError(`there is no user ${user}`);
      chownSync(path, as === 'owner' ? uid : 0, gid);
    },
    isOwnedBy: (path, user) => statSync(path).uid === readId('-u', user),
    run: (program, args) => {
      const { status, error } = spawnSync(program, args, { stdio: ['ignore', 2, 2], timeout: RUN_LIMIT_MS });
      if (status === 0) return;
      const why = error === undefined ? `it ended with ${status}; what it printed stands above` : error.message;
      throw new OperatorError(`${program} ${args.join(' ')} failed: ${why}`);
    },
  };
}
