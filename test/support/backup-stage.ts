/** Databases with a log in them, backups of them in memory, and what is in a database as text, for comparing. */
import type pg from 'pg';
import { BACKUP_TABLES } from '../../src/control/backup/backup-tables.ts';
import { packBackup, unpackBackup } from '../../src/control/backup/pack-backup.ts';
import { type RestoreOptions, type RestoreResult, restoreBackup } from '../../src/control/backup/restore-backup.ts';
import { writeBackup } from '../../src/control/backup/write-backup.ts';
import { closeConnection, openSingleConnection } from '../../src/control/store/single-connection.ts';

export interface StagedDatabase {
  readonly url: string;
  readonly pool: pg.Pool;
}

export async function backUp({ url }: StagedDatabase): Promise<Buffer> {
  const client = await openSingleConnection({ connectionString: url, applicationName: 'test backup' });
  try {
    const facts = { tollgateVersion: '0.0.0-test', spool: { is_stored: true, left_bytes: 0 } };
    const chunks: Buffer[] = [];
    for await (const chunk of packBackup(writeBackup(client, facts))) chunks.push(chunk);
    return Buffer.concat(chunks);
  } finally {
    await closeConnection(client);
  }
}

/** In chunks of odd sizes, as a network brings them. */
async function* inChunks(file: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0, size = 1; at < file.length; at += size, size = Math.min(size * 3 + 1, 65_536))
    yield file.subarray(at, at + size);
}

export function restoreFile(
  { url }: StagedDatabase,
  file: Buffer,
  options: Partial<Pick<RestoreOptions, 'replaces' | 'signal' | 'lockLimitMs'>> = {},
): Promise<RestoreResult> {
  return restoreBackup({
    connectionString: url,
    plain: unpackBackup(inChunks(file)),
    replaces: false,
    accountId: 1,
    signal: new AbortController().signal,
    ...options,
  });
}

/** What a restore sets anew, and so is not compared. */
const SET_ANEW: readonly string[] = ['key_snapshot', 'price_book_version', 'budget_version', 'audit_head'];

/** Transaction numbers of the server, and what a restore makes anew in each row. */
const OWN_COLUMNS: readonly string[] = ['ingest_xid', 'stored_xid', 'session_key'];

/** Every row of every table as the text that PostgreSQL gives it, sorted; without what each database has of its own. */
export async function readContent({ url }: StagedDatabase): Promise<Readonly<Record<string, readonly string[]>>> {
  const client = await openSingleConnection({ connectionString: url, applicationName: 'test content' });
  try {
    const content: Record<string, readonly string[]> = {};
    for (const { name } of BACKUP_TABLES) {
      if (SET_ANEW.includes(name)) continue;
      const { rows: columns } = await client.query<{ list: string }>(
        `select string_agg(attname, ', ' order by attnum) as list from pg_attribute
         where attrelid = $1::regclass and attnum > 0 and not attisdropped and attname <> all ($2)`,
        [name, OWN_COLUMNS],
      );
      const { rows } = await client.query<{ row: string }>(
        `select t::text as row from (select ${columns[0]?.list} from ${name}) t order by t::text collate "C"`,
      );
      content[name] = rows.map(({ row }) => row);
    }
    return content;
  } finally {
    await closeConnection(client);
  }
}
