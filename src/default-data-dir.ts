/** Where everything is kept when no setting says otherwise; `start` and the commands that look for it must agree. */
import { homedir } from 'node:os';
import { join } from 'node:path';
import { OperatorError } from './errors.ts';

export function defaultDataDir(env: Readonly<Record<string, string | undefined>>): string {
  if (process.getuid?.() === 0) return '/var/lib/tollgate';
  if (process.platform === 'darwin') return join(readHome(), 'Library', 'Application Support', 'tollgate');
  // The XDG base directory specification: a relative value is to be ignored.
  const base = env['XDG_DATA_HOME']?.startsWith('/') ? env['XDG_DATA_HOME'] : join(readHome(), '.local', 'share');
  return join(base, 'tollgate');
}

/** Without `HOME` it is looked up by the user's name, and a user may have none (a container with a bare number). */
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
