/** The user's configuration files on the disk: read and written whole, through links, never half. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { OperatorError } from '../../vocabulary/errors.ts';

export interface FileState {
  readonly text: string;
  readonly mode: number;
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Null where there is none. */
export function readUserFile(path: string): FileState | null {
  if (!existsSync(path)) return null;
  try {
    return { text: decoder.decode(readFileSync(path)), mode: statSync(path).mode & 0o777 };
  } catch (cause) {
    throw new OperatorError(`cannot read ${path} as text`, { cause });
  }
}

/** The folders that are missing above a file, the outermost first. */
export function listMissingFolders(path: string): readonly string[] {
  const missing: string[] = [];
  for (let dir = dirname(path); !existsSync(dir); dir = dirname(dir)) missing.unshift(dir);
  return missing;
}

/** Makes those that are missing, for the user alone. */
export function makeFolders(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
}

export function writeUserFile(path: string, { text, mode }: FileState): void {
  // A link, as of people who keep their configuration in a repository, stays one.
  const real = existsSync(path) ? realpathSync(path) : path;
  const fresh = join(dirname(real), `.${process.pid}.tollgate`);
  writeFileSync(fresh, text, { mode: 0o600 });
  chmodSync(fresh, mode);
  renameSync(fresh, real);
}

export function removeUserFile(path: string): void {
  rmSync(path, { force: true });
}

/** Those that are empty, the innermost first. */
export function removeFolders(folders: readonly string[]): void {
  for (const folder of folders.toReversed()) {
    try {
      rmdirSync(folder);
    } catch {
      // Something else has come into it, or it has gone.
    }
  }
}
