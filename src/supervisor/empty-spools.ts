/** Takes away the spool folders of proxies that ended without a record: the shipper takes only those that hold one. */
import { readdirSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';

/** Of a process that has ended. One that holds a file stays as it is. */
export function removeEmptySpool(spoolDir: string, name: string): void {
  try {
    rmdirSync(join(spoolDir, name));
  } catch {
    // Not empty, or never made.
  }
}

/** At a start, when no process lives yet: what a killed gateway left. */
export function removeEmptySpools(spoolDir: string): void {
  let names: string[] = [];
  try {
    names = readdirSync(spoolDir);
  } catch {
    // The first start.
  }
  for (const name of names) removeEmptySpool(spoolDir, name);
}
