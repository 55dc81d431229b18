/** Puts refused records into JSON files, one each, with the reason. */
import { createHash } from 'node:crypto';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const MAX_FILES = 10_000;

export interface QuarantinedRecord {
  readonly id: string;
  readonly reason: string;
  readonly record: unknown;
}

/** Returns false when the record was not kept. Writing it again replaces its file. */
export async function quarantineRecord(dir: string, record: QuarantinedRecord): Promise<boolean> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  if ((await readdir(dir)).length >= MAX_FILES) return false;
  await writeFile(join(dir, fileOf(record.id)), `${JSON.stringify(record, null, 2)}\n`, { mode: 0o600 });
  return true;
}

/** Removes the files of calls that have a row now. */
export async function releaseRecords(dir: string, ids: Iterable<string>): Promise<void> {
  const names = new Set(await readdir(dir).catch(() => []));
  if (names.size === 0) return;
  for (const id of ids) {
    const name = fileOf(id);
    if (names.has(name)) await rm(join(dir, name), { force: true });
  }
}

function fileOf(id: string): string {
  return `record-${nameOf(id)}.json`;
}

/** A malformed id is replaced, since it may be free text. */
function nameOf(id: string): string {
  if (/^[0-9a-f-]{36}$/.test(id)) return id;
  return `x-${createHash('sha256').update(id).digest('hex').slice(0, 24)}`;
}
