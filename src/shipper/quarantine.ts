/** Where records go that the database does not take in any form: one JSON file each, with the reason. */
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
  const name = `record-${record.id.replace(/[^0-9A-Za-z-]/g, '_').slice(0, 64)}.json`;
  await writeFile(join(dir, name), `${JSON.stringify(record, null, 2)}\n`, { mode: 0o600 });
  return true;
}
