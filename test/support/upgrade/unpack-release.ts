/** The release before this one, as it is kept here (scripts/keep-release.mjs), in a folder from which it runs. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const MODULES = join(import.meta.dirname, '..', '..', '..', 'node_modules');

export interface UnpackedRelease {
  readonly path: string;
  readonly remove: () => void;
}

export function unpackRelease(): UnpackedRelease {
  const [archive, ...others] = readdirSync(import.meta.dirname).filter((name) => name.endsWith('.tar.gz'));
  if (archive === undefined || others.length > 0) throw new Error('test/support/upgrade must hold one release');
  const path = mkdtempSync(join(tmpdir(), 'tollgate-release-'));
  execFileSync('tar', ['-xzf', join(import.meta.dirname, archive), '-C', path]);
  // It runs with what is installed now: dependencies are not what is tested.
  symlinkSync(MODULES, join(path, 'node_modules'));
  return { path, remove: () => rmSync(path, { recursive: true }) };
}
