/** Reads the options of an installed service, so that another install keeps them. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findPlaces } from './service-files.ts';

/** Null where it has the default. */
export interface InstalledOptions {
  readonly user: string | null;
  readonly dataDir: string | null;
  readonly envFile: string | null;
}

export function readInstalledOptions(name: string | null, root: string): InstalledOptions {
  const file = join(root, findPlaces(name, null, null).dropIn);
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const read = (pattern: RegExp) => pattern.exec(text)?.[1] ?? null;
  return {
    user: read(/^User=(.+)$/m),
    dataDir: read(/^Environment=TOLLGATE_DATA_DIR=(.+)$/m),
    envFile: read(/^EnvironmentFile=-(.+)$/m),
  };
}
