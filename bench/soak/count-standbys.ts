/** How many of the process directories that were laid out ahead hold room for endings. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { RESERVE_NAME } from '../../src/spool/reserve.ts';
import { STANDBY_NAME } from '../../src/spool/standby.ts';

export function countStandbys(dataDir: string): number {
  const dir = join(dataDir, STANDBY_NAME);
  try {
    return readdirSync(dir).filter((name) => !name.includes('.') && existsSync(join(dir, name, RESERVE_NAME))).length;
  } catch {
    return 0;
  }
}
