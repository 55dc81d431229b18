/** The data directory when no setting names one, for `start` and all other commands. */
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Environment } from './config.ts';
import { OperatorError } from './errors.ts';

export function defaultDataDir(env: Environment): string {
  if (process.getuid?.() === 0) return '/var/lib/tollgate';
  if (process.platform === 'darwin') return join(readHome(), 'Library', 'Application Support', 'tollgate');
  // XDG Base Directory specification: relative values are ignored.
  const base = env['XDG_DATA_HOME']?.startsWith('/') ? env['XDG_DATA_HOME'] : join(readHome(), '.local', 'share');
  return join(base, 'tollgate');
}

/** A user may have no home: a container with a bare user number. */
function readHome(): string {
  try {
    return homedir();
  } catch (cause) {
    throw new OperatorError(
      'TOLLGATE_DATA_DIR: this user has no home directory; set it to a directory that this user can write',
      { cause },
    );
  }
}
