/**
 * Data directories in which the embedded PostgreSQL is set up and has the schema of now, with nothing in it: most of a
 * gateway's first start is `initdb` and the migrations. They are made by what makes them in a gateway, once, and kept.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { startEmbeddedPostgres } from '../../src/supervisor/postgres/embedded-postgres.ts';
import { copyKept, keep, placeOfKept } from './kept-folder.ts';
import { MIGRATIONS, openMigrated } from './open-migrated.ts';
import { EMBEDDED } from './postgres.ts';

const SUPERVISOR = join(import.meta.dirname, '..', '..', 'src', 'supervisor', 'postgres');
const OF_THE_SERVER_THAT_RAN = ['postgres.log', 'postgres.pipe', 'socket', 'postgres/postmaster.opts'];

/** A new one of its own, in a folder that the database's own user can reach too. */
export async function makePreparedDataDir(): Promise<string> {
  const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-test-'));
  const kept = placeOfKept('data', EMBEDDED.binDir, [MIGRATIONS, SUPERVISOR]);
  if (!copyKept(kept, dataDir)) {
    await prepare(dataDir);
    keep(dataDir, kept);
  }
  return dataDir;
}

async function prepare(dataDir: string): Promise<void> {
  const postgres = await startEmbeddedPostgres({
    dataDir,
    log: pino({ level: 'silent' }),
    mayBeAway: false,
    onMoved: () => {},
  });
  try {
    await (await openMigrated(postgres.connectionString())).end();
  } finally {
    await postgres.stop();
  }
  for (const name of OF_THE_SERVER_THAT_RAN) rmSync(join(dataDir, name), { recursive: true, force: true });
}
