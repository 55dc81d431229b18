/** This node's id, made at the first start and kept in the data directory. */
import { randomUUID } from 'node:crypto';
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { NODE_FILE, readNodeFile } from '../../spool/find-node-id.ts';

/** A damaged file makes a new node; the former one is shown as silent. */
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
