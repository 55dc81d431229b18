/** Who this node is: an id that is made at the first start and stays in the data directory, since names are given twice. */
import { randomUUID } from 'node:crypto';
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { NODE_FILE, readNodeFile } from '../spool/find-node-id.ts';

/** A file that is damaged is made anew: the node is another one then, and the one before is shown as silent. */
export function readNodeId(dataDir: string, log: Logger): string {
  const found = readNodeFile(dataDir);
  if (found !== null) return found;
  const path = join(dataDir, NODE_FILE);
  const id = randomUUID();
  try {
    writeFileSync(`${path}.tmp`, `${JSON.stringify({ id })}\n`, { mode: 0o600 });
    renameSync(`${path}.tmp`, path);
  } catch (error) {
    log.warn({ err: error }, 'the id of this node could not be kept; the next start will be another node');
  }
  return id;
}
