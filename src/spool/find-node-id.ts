/** Of which node a spool is, where its data directory is there too and not only a copy of its records. */
import { readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { z } from 'zod';

/** In a data directory. */
export const NODE_FILE = 'node.json';
const NodeIdentity = z.object({ id: z.uuid() });

/** Null when the file is missing or damaged. */
export function readNodeFile(dataDir: string): string | null {
  try {
    return NodeIdentity.parse(JSON.parse(readFileSync(join(dataDir, NODE_FILE), 'utf8'))).id;
  } catch {
    // Both by the rule above.
    return null;
  }
}

/** `dir` is a data directory, its spool folder, or one process directory in that. Null when that is not known. */
export function findNodeId(dir: string): string | null {
  const path = resolve(dir);
  const spool = [path, dirname(path)].find((one) => basename(one) === 'spool');
  return readNodeFile(path) ?? (spool === undefined ? null : readNodeFile(dirname(spool)));
}
