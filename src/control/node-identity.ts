/** Who this node is: an id that is made at the first start and stays in the data directory, since names are given twice. */
import { randomUUID } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { z } from 'zod';

const NAME = 'node.json';
const Identity = z.object({ id: z.uuid() });

/** A file that is damaged is made anew: the node is another one then, and the one before is shown as silent. */
export function readNodeId(dataDir: string, log: Logger): string {
  const path = join(dataDir, NAME);
  const found = readIdentity(path);
  if (found !== null) return found;
  const id = randomUUID();
  try {
    writeFileSync(`${path}.tmp`, `${JSON.stringify({ id })}\n`, { mode: 0o600 });
    renameSync(`${path}.tmp`, path);
  } catch (error) {
    log.warn({ err: error }, 'the id of this node could not be kept; the next start will be another node');
  }
  return id;
}

function readIdentity(path: string): string | null {
  try {
    return Identity.parse(JSON.parse(readFileSync(path, 'utf8'))).id;
  } catch {
    // Missing or damaged: both by the rule above.
    return null;
  }
}
