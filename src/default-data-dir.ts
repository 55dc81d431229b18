/** Where everything is kept when no setting says otherwise; `start` and the commands that look for it must agree. */
import { homedir } from 'node:os';
import { join } from 'node:path';

export function defaultDataDir(env: Readonly<Record<string, string | undefined>>): string {
  if (process.getuid?.() === 0) return '/var/lib/tollgate';
  if (process.platform === 'darwin') return join(homedir(), 'Library', 'Application Support', 'tollgate');
  // The XDG base directory specification: a relative value is to be ignored.
  const base = env['XDG_DATA_HOME']?.startsWith('/') ? env['XDG_DATA_HOME'] : join(homedir(), '.local', 'share');
  return join(base, 'tollgate');
}
