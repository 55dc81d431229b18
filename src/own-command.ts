/**
 * How a person types a command of this very program, where and as it was started. A bare `npx tollgate` would do in the
 * folder of a clone only, and fetch whatever bears that name from a registry anywhere else.
 */
import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { defaultDataDir } from './default-data-dir.ts';

export interface StartedProgram {
  /** The folder with `bin`; a clone has a link `tollgate` in it as well. */
  readonly root: string;
  readonly isClone: boolean;
  /** By systemd, as another user than the one who reads this. */
  readonly isService: boolean;
  readonly cwd: string;
  readonly hostname: string;
  readonly dataDir: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whether a file is there, for the marks of a container. */
  readonly hasFile?: (path: string) => boolean;
}

function quote(word: string): string {
  return /^[\w./:@%+=-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

function realPath(path: string): string | null {
  return existsSync(path) ? realpathSync(path) : null;
}

function nameProgram({ root, isClone, cwd, env }: StartedProgram): string {
  if (isClone) return cwd === root ? './tollgate' : quote(join(root, 'tollgate'));
  const own = ['tollgate', 'tollgate.mjs'].map((name) => join(root, 'bin', name)).filter((path) => existsSync(path));
  const places = (env['PATH'] ?? '').split(':').map((folder) => realPath(join(folder, 'tollgate')));
  const isOnPath = places.some((place) => place !== null && own.some((path) => realPath(path) === place));
  return isOnPath ? 'tollgate' : quote(own[0] ?? 'tollgate');
}

/** The words before `tollgate` by which one gets into the container that this is, or null when it is none. */
function nameContainer({ env, hostname, isClone, hasFile = existsSync }: StartedProgram): string | null {
  // Who works on a clone in a container is in it.
  if (isClone) return null;
  if (env['KUBERNETES_SERVICE_HOST'] !== undefined) return `kubectl exec ${hostname} --`;
  if (hasFile('/run/.containerenv')) return `podman exec ${hostname}`;
  return hasFile('/.dockerenv') ? `docker exec ${hostname}` : null;
}

/** Null for a user without a home, such as a bare number, who has always said where the data are. */
function readUsualDir(env: StartedProgram['env']): string | null {
  try {
    return defaultDataDir(env);
  } catch {
    return null;
  }
}

/** Makes of `keys create laptop` what can be typed. */
export function createOwnCommand(started: StartedProgram): (words: string) => string {
  const { isService, dataDir, env } = started;
  const container = nameContainer(started);
  // What is typed into a container has its environment.
  if (container !== null) return (words) => `${container} tollgate ${words}`;
  const program = isService ? `sudo ${nameProgram(started)}` : nameProgram(started);
  // What this shell was told, the next one may not know; `sudo` makes it root's.
  const usual = isService ? '/var/lib/tollgate' : readUsualDir(env);
  return (words) => `${program} ${words}${dataDir === usual ? '' : ` --data-dir ${quote(dataDir)}`}`;
}
