/** Finds the node of a spool from the data directory around it. */
import { readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { z } from 'zod';

export const NODE_FILE = 'node.json';
const NodeIdentity = z.object({ id: z.uuid() });

/** Null when the file is missing or damaged. */
export function readNodeFile(dataDir: string): string | null {
  try {
    return NodeIdentity.parse(JSON.parse(readFileSync(join(dataDir, NODE_FILE), 'utf8'))).id;
  } catch {
    return null;
  }
}

/** `dir` is a data directory, its spool, or a process directory in it. Null when unknown. */
export function findNodeId(dir: string): string | null {
  const path = resolve(dir);
  const spool = [path, dirname(path)].find((one) => basename(one) === 'spool');
  return readNodeFile(path) ?? (spool === undefined ? null : readNodeFile(dirname(spool)));
}
