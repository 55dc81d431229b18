/**
 * Folders that tests have made once and keep for the next ones, such as a cluster of PostgreSQL: making it takes seconds,
 * copying it a tenth of one. A folder is made again when what it was made by has changed.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..');
const FOLDER = join(ROOT, 'node_modules', '.cache', 'tollgate-tests');
const MIGRATE = join(ROOT, 'src', 'control', 'store', 'migrate.ts');

/** Where a folder is kept, if it is, that the programs in `binDir`, the migrations and the files of `sources` make. */
export function placeOfKept(kind: string, binDir: string, sources: readonly string[]): string {
  const { ino, mtimeMs } = statSync(join(binDir, 'initdb'));
  const hash = createHash('sha256');
  for (const path of [MIGRATE, ...sources.flatMap(listFiles)]) hash.update(readFileSync(path));
  const user = process.getuid?.() ?? 0;
  return join(FOLDER, `${kind}-${user}-${ino}-${Math.floor(mtimeMs)}-${hash.digest('hex').slice(0, 12)}`);
}

function listFiles(folder: string): readonly string[] {
  const names = readdirSync(folder).toSorted();
  return names.map((name) => join(folder, name));
}

/** Copies what the folder has to a place that is empty or not there; false, and then nothing, where none is kept. */
export function copyKept(kept: string, to: string): boolean {
  if (!existsSync(kept)) return false;
  mkdirSync(to, { recursive: true });
  if (spawnSync('cp', ['-a', `${kept}/.`, to]).status === 0) return true;
  for (const name of readdirSync(to)) rmSync(join(to, name), { recursive: true, force: true });
  return false;
}

/** Keeps a copy, and no longer those of its kind that were made by something else. */
export function keep(folder: string, kept: string): void {
  const copy = `${kept}.${process.pid}`;
  mkdirSync(FOLDER, { recursive: true });
  if (spawnSync('cp', ['-a', folder, copy]).status !== 0) return;
  try {
    renameSync(copy, kept);
  } catch {
    // Another test process was faster.
    rmSync(copy, { recursive: true });
  }
  const madeBefore = basename(kept).slice(0, basename(kept).lastIndexOf('-'));
  for (const name of readdirSync(FOLDER))
    if (name.startsWith(madeBefore) && !name.startsWith(basename(kept)))
      rmSync(join(FOLDER, name), { recursive: true, force: true });
}
