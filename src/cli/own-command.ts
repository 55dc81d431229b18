/** Formats a command of this program as it can be typed here: a bare `npx tollgate` may fetch another. */
import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import type { Environment } from '../vocabulary/config.ts';
import { defaultDataDir } from '../vocabulary/default-data-dir.ts';
import { quoteForShell } from './terminal-text.ts';

export interface StartedProgram {
  /** Holds `bin`, and in a clone also a link `tollgate`. */
  readonly root: string;
  readonly isClone: boolean;
  /** Started by systemd, as another user than the reader. */
  readonly isService: boolean;
  readonly cwd: string;
  readonly hostname: string;
  readonly dataDir: string;
  readonly env: Environment;
  readonly hasFile?: (path: string) => boolean;
}

function realPath(path: string): string | null {
  return existsSync(path) ? realpathSync(path) : null;
}

function nameProgram({ root, isClone, cwd, env }: StartedProgram): string {
  if (isClone) return cwd === root ? './tollgate' : quoteForShell(join(root, 'tollgate'));
  const own = ['tollgate', 'tollgate.mjs'].map((name) => join(root, 'bin', name)).filter((path) => existsSync(path));
  const places = (env['PATH'] ?? '').split(':').map((folder) => realPath(join(folder, 'tollgate')));
  const isOnPath = places.some((place) => place !== null && own.some((path) => realPath(path) === place));
  return isOnPath ? 'tollgate' : quoteForShell(own[0] ?? 'tollgate');
}

/** The words that run a command inside this container; null outside of one. */
function nameContainer({ env, hostname, isClone, hasFile = existsSync }: StartedProgram): string | null {
  // A developer with a clone in a container is inside already.
  if (isClone) return null;
  if (env['KUBERNETES_SERVICE_HOST'] !== undefined) return `kubectl exec ${hostname} --`;
  if (hasFile('/run/.containerenv')) return `podman exec ${hostname}`;
  return hasFile('/.dockerenv') ? `docker exec ${hostname}` : null;
}

/** Null for a user without a home, who has always named the data directory. */
function readUsualDir(env: StartedProgram['env']): string | null {
  try {
    return defaultDataDir(env);
  } catch {
    return null;
  }
}

export function createOwnCommand(started: StartedProgram): (words: string) => string {
  const { isService, dataDir, env } = started;
  const container = nameContainer(started);
  // A command inside the container has its environment.
  if (container !== null) return (words) => `${container} tollgate ${words}`;
  const program = isService ? `sudo ${nameProgram(started)}` : nameProgram(started);
  // The next shell may lack this one's environment; `sudo` uses root's.
  const usual = isService ? '/var/lib/tollgate' : readUsualDir(env);
  return (words) => `${program} ${words}${dataDir === usual ? '' : ` --data-dir ${quoteForShell(dataDir)}`}`;
}
