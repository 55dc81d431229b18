/** The version in the package's manifest, which is beside `src/` and beside `dist/`. */
import { readFileSync } from 'node:fs';

export function readVersion(): string {
  const manifest: { version: string } = JSON.parse(
    readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
  );
  return manifest.version;
}
