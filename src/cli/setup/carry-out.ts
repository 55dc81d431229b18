/** Writes what was planned. What is to be remembered is known before, so that it can be taken back from wherever it breaks off. */
import { existsSync } from 'node:fs';
import { isChange, type PlannedFile } from './plan-setup.ts';
import type { SetupFile, SetupRecord } from './setup-record.ts';
import { listMissingFolders, makeFolders, removeFolders, removeUserFile, writeUserFile } from './user-file.ts';

function knownFile(former: SetupRecord | null, path: string): SetupFile | undefined {
  return former?.files.find((one) => one.path === path);
}

/** What is to be remembered while the files are written; nothing is written yet. */
export function listAboutToWrite(files: readonly PlannedFile[], former: SetupRecord | null): readonly SetupFile[] {
  return files.flatMap(({ path, format, now, before, next, changes }) => {
    const known = knownFile(former, path);
    if (next === null || changes.length === 0) return known ?? [];
    const folders = [...(known?.folders ?? []), ...listMissingFolders(path)];
    const was = now === null ? {} : { was: now.text };
    return [{ path, format, before, after: next.text, ...was, folders, changes: [...changes] }];
  });
}

/** Returns what is to be remembered of the files that now have something of ours. */
export function carryOut(files: readonly PlannedFile[], former: SetupRecord | null): readonly SetupFile[] {
  return files.flatMap((file) => {
    const { path, format, before, next, changes } = file;
    const known = knownFile(former, path)?.folders ?? [];
    if (next === null) {
      if (existsSync(path)) removeUserFile(path);
      removeFolders(known);
      return [];
    }
    const folders = [...new Set([...known, ...listMissingFolders(path)])];
    if (isChange(file)) {
      makeFolders(path);
      writeUserFile(path, next);
    }
    if (changes.length === 0) return [];
    return [{ path, format, before, after: next.text, folders, changes: [...changes] }];
  });
}
