/** Where records go that the database does not take in any form: one JSON file each, with the reason. */
import { createHash } from 'node:crypto';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Files that are kept; beyond it records are only counted. */
const MAX_FILES = 10_000;

export interface QuarantinedRecord {
  readonly id: string;
  readonly reason: string;
  readonly record: unknown;
}

/** False when it was not kept. Writing the same record again replaces its file. */
export async function quarantineRecord(dir: string, record: QuarantinedRecord): Promise<boolean> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  if ((await readdir(dir)).length >= MAX_FILES) return false;
  const name = `record-${nameOf(record.id)}.json`;
  await writeFile(join(dir, name), `${JSON.stringify(record, null, 2)}\n`, { mode: 0o600 });
  return true;
}

/** Ids are ours; one that does not look so is not shown. */
function nameOf(id: string): string {
  if (/^[0-9a-f-]{36}$/.test(id)) return id;
  return `x-${createHash('sha256').update(id).digest('hex').slice(0, 24)}`;
}
