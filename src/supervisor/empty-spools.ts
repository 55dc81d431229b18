/** Removes the spool folders of proxies that ended without a record; the shipper takes only those that hold one. */
import { readdirSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';

export function removeEmptySpool(spoolDir: string, name: string): void {
  try {
    rmdirSync(join(spoolDir, name));
  } catch {}
}

export function removeEmptySpools(spoolDir: string): void {
  let names: string[] = [];
  try {
    names = readdirSync(spoolDir);
  } catch {}
  for (const name of names) removeEmptySpool(spoolDir, name);
}
