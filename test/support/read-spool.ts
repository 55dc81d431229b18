/** Everything that a process directory gives out, for tests of the spool. */

import { SPOOL_START } from '../../src/spool/cursor.ts';
import { openSpoolReader } from '../../src/spool/spool-reader.ts';
import type { CallEnd, SpoolEntry } from '../../src/vocabulary/call-record.ts';

const LIMITS = { maxEnds: 500, maxBytes: 8 * 1024 * 1024 };

export interface WholeSpool {
  readonly entries: readonly SpoolEntry[];
  readonly ends: readonly CallEnd[];
  /** Of the endings, in the order of reading, repetitions included. */
  readonly ids: readonly string[];
  readonly corruptBytes: number;
}

/** `isDead`: as the directory of a process that is gone. */
export async function readSpool(dir: string, isDead: boolean): Promise<WholeSpool> {
  const reader = openSpoolReader(dir, SPOOL_START);
  const entries: SpoolEntry[] = [];
  let corruptBytes = 0;
  for (;;) {
    const batch = await reader.read(LIMITS, isDead);
    for (const { entry } of batch.entries) entries.push(entry);
    for (const { bytes } of batch.corrupt) corruptBytes += bytes;
    if (batch.isDrained) break;
  }
  const ends = entries.flatMap((entry) => (entry.type === 'end' ? [entry.end] : []));
  return { entries, ends, ids: ends.map(({ id }) => id), corruptBytes };
}
