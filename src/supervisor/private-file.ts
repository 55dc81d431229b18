/** Small files that only the gateway's user may read, replaced as a whole: a reader sees the old or the new text. */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';

/** Throws what the file system throws: on a full disk, too. */
export function writePrivateFile(path: string, text: string): void {
  const temporary = `${path}.${process.pid}.tmp`;
  rmSync(temporary, { force: true });
  try {
    writeFileSync(temporary, text, { mode: 0o600, flag: 'wx' });
    renameSync(temporary, path);
  } catch (error) {
    // On a full disk every byte counts.
    rmSync(temporary, { force: true });
    throw error;
  }
}

/** The parsed content, or null when the file is missing or not JSON. */
export function readJsonFile(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    // Whatever is wrong with it, it says nothing: the caller goes on as if it was not there.
    return null;
  }
}
