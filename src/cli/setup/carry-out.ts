/** Writes what was planned. */
import { existsSync } from 'node:fs';
import { isChange, type PlannedFile } from './plan-setup.ts';
import type { SetupFile, SetupRecord } from './setup-record.ts';
import { makeFolders, removeFolders, removeUserFile, writeUserFile } from './user-file.ts';

/** Returns what is to be remembered of the files that now have something of ours. */
export function carryOut(files: readonly PlannedFile[], former: SetupRecord | null): readonly SetupFile[] {
  return files.flatMap((file) => {
    const { path, format, before, next, changes } = file;
    const known = former?.files.find((one) => one.path === path)?.folders ?? [];
    if (next === null) {
      if (existsSync(path)) removeUserFile(path);
      removeFolders(known);
      return [];
    }
    const folders = [...known, ...makeFolders(path)];
    if (isChange(file)) writeUserFile(path, next);
    if (changes.length === 0) return [];
    return [{ path, format, before, after: next.text, folders, changes: [...changes] }];
  });
}
