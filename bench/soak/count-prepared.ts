/** How many of the process directories that were laid out ahead hold room for endings. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { EMERGENCY_NAME } from '../../src/spool/emergency-segment.ts';
import { PREPARED_NAME } from '../../src/spool/prepared-directory.ts';

export function countPrepared(dataDir: string): number {
  const dir = join(dataDir, PREPARED_NAME);
  try {
    return readdirSync(dir).filter((name) => !name.includes('.') && existsSync(join(dir, name, EMERGENCY_NAME))).length;
  } catch {
    return 0;
  }
}
