/** Where records go that the database does not take in any form: one JSON file each, with the reason. */
import { createHash } from 'node:crypto';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
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
  await writeFile(join(dir, fileOf(record.id)), `${JSON.stringify(record, null, 2)}\n`, { mode: 0o600 });
  return true;
}

/** Of calls that have their row now: what was put aside of them at an earlier try is in the log, and goes. */
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

/** Ids are ours; one that does not look so is not shown. */
function nameOf(id: string): string {
  if (/^[0-9a-f-]{36}$/.test(id)) return id;
  return `x-${createHash('sha256').update(id).digest('hex').slice(0, 24)}`;
}
