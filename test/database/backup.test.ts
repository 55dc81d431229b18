/** Backups of real databases: what goes in comes out, whichever version of PostgreSQL is at either end, and what is damaged does not go in. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listEntries, readChainEnds } from '../../src/control/audit/list-entries.ts';
import { noteChange } from '../../src/control/audit/note-change.ts';
import { verifyLog } from '../../src/control/audit/verify-log.ts';
import { BackupHeader } from '../../src/control/backup/backup-format.ts';
import { BACKUP_TABLES, TABLES_LEFT_OUT } from '../../src/control/backup/backup-tables.ts';
import { judgeBackup } from '../../src/control/backup/judge-backup.ts';
import { unpackBackup } from '../../src/control/backup/pack-backup.ts';
import { readBackup } from '../../src/control/backup/read-backup.ts';
import { restoreBackup } from '../../src/control/backup/restore-backup.ts';
import { readDatabaseTime } from '../../src/control/store/database-clock.ts';
import { DAY_MS } from '../../src/control/store/partitions.ts';
import { inTransaction } from '../../src/control/store/pool.ts';
import { applyRetention } from '../../src/control/store/retention.ts';
import { fillEveryTable } from '../support/backup-fill.ts';
import { backUp, readContent, restoreFile, type StagedDatabase } from '../support/backup-stage.ts';
import { openTestPool } from '../support/open-migrated.ts';
import { ALL_POSTGRES_KINDS, startPostgres, type TestPostgres } from '../support/postgres.ts';

const START_LIMIT_MS = 60_000;
let servers: readonly TestPostgres[] = [];
const opened: StagedDatabase[] = [];
let files: readonly Buffer[] = [];

async function database(serverIndex: number, name: string): Promise<StagedDatabase> {
  const server = servers[serverIndex];
  if (server === undefined) throw new Error(`no server ${serverIndex}`);
  const url = await server.createDatabase(name);
  const made = { url, pool: openTestPool(url) };
  opened.push(made);
  return made;
}

beforeAll(async () => {
  servers = await Promise.all(ALL_POSTGRES_KINDS.map((kind) => startPostgres(kind)));
  for (const index of ALL_POSTGRES_KINDS.keys()) {
    const source = await database(index, 'source');
    await fillEveryTable(source.pool);
    files = [...files, await backUp(source)];
  }
}, START_LIMIT_MS);

afterAll(async () => {
  for (const { pool } of opened) await pool.end();
  for (const server of servers) await server.remove();
}, START_LIMIT_MS);

const NO_FILTER = { from: null, to: null, actor: null, action: null, subjectKind: null, subjectId: null };

const PAIRS = ALL_POSTGRES_KINDS.flatMap((from, fromIndex) =>
  ALL_POSTGRES_KINDS.map((to, toIndex) => ({ from: from.name, to: to.name, fromIndex, toIndex })),
);

describe.each(PAIRS)('from $from to $to', ({ fromIndex, toIndex }) => {
  it('every row of every table is the same, to the last digit and byte', async () => {
    const source = opened[fromIndex];
    const target = await database(toIndex, `target_${fromIndex}`);
    if (source === undefined) throw new Error('no source');
    const result = await restoreFile(target, files[fromIndex] ?? Buffer.alloc(0));
    const before = await readContent(source);
    const after = await readContent(target);
    for (const [table, rows] of Object.entries(before)) {
      expect(rows.length, `rows in ${table}`).toBeGreaterThan(0);
      // A restore changes jobs and deliveries, see the tests about them, and adds a row to the audit log, see that one.
      if (table === 'audit_log') expect(after[table], table).toEqual(expect.arrayContaining([...rows]));
      else if (!['jobs', 'alert_deliveries'].includes(table)) expect(after[table], table).toEqual(rows);
    }
    expect(result.rows).toBe(result.tables.reduce((sum, { rows }) => sum + rows, 0));
    expect(result.replaced).toEqual([]);
  });
});

describe('a restored database', () => {
  it('knows every table of the schema', async () => {
    const target = await database(0, 'schema');
    const { rows } = await target.pool.query<{ name: string }>(
      `select relname as name from pg_class where relkind in ('r', 'p') and not relispartition
       and relnamespace = 'public'::regnamespace and relname not in ('schema_migrations', 'schema_additions') order by 1`,
    );
    expect([...BACKUP_TABLES.map(({ name }) => name), ...TABLES_LEFT_OUT].sort()).toEqual(rows.map(({ name }) => name));
  });

  it('has versions above those of the file and its own, and numbers that go on after the highest', async () => {
    const target = await database(0, 'versions');
    await target.pool.query('update key_snapshot set version = 100');
    const result = await restoreFile(target, files[0] ?? Buffer.alloc(0));
    expect(result.keysVersion).toBe(101);
    const { rows } = await target.pool.query('select version from price_book_version');
    expect(rows).toEqual([{ version: 18 }]);
    const added = await target.pool.query(
      `insert into gateway_keys (account_id, name, digest, prefix, last4) values (1, 'next', decode(repeat('05', 32), 'hex'), '', '') returning id`,
    );
    expect(added.rows[0]?.id).toBeGreaterThan(2);
    const raised = await target.pool.query('update key_snapshot set version = version + 1 returning version');
    expect(raised.rows).toEqual([{ version: 102 }]);
  });

  it('keeps days that are past the limits for as long as what comes late, so that the limits can be raised', async () => {
    const target = await database(0, 'past_days');
    await restoreFile(target, files[0] ?? Buffer.alloc(0));
    const calls = async () => (await target.pool.query('select from llm_requests')).rowCount;
    const before = await calls();
    expect(before).toBeGreaterThan(0);
    const nowMs = await readDatabaseTime(target.pool);
    const retain = async (afterDays: number) =>
      applyRetention({
        pool: target.pool,
        limits: { rowsDays: 2, bodiesDays: 2 },
        readTime: () => Promise.resolve(nowMs + afterDays * DAY_MS),
        cutRollups: () => Promise.resolve(),
      });
    expect(await retain(1.9)).toEqual({ dropped: [], waitingFor: null });
    expect(await calls()).toBe(before);
    expect((await retain(2.1)).dropped.length).toBeGreaterThan(0);
    expect(await calls()).toBe(0);
  });

  it('has the audit log of the file, whole, and as its next row where the one ended that stood here', async () => {
    const target = await database(0, 'audited');
    await inTransaction(target.pool, (client) =>
      noteChange(client, { accountId: 1, action: 'test.here', subject: { kind: 'test', id: null } }),
    );
    const { hash } = await readChainEnds(target.pool);
    await restoreFile(target, files[0] ?? Buffer.alloc(0));
    const entries = await listEntries(target.pool, 1, NO_FILTER, null, 10);
    expect(entries).toMatchObject([
      { seq: 2, action: 'backup.restore', before: { audit_seq: 1, audit_hash: `sha256:${hash}` } },
      { seq: 1, action: 'test.change' },
    ]);
    expect(await inTransaction(target.pool, (client) => verifyLog(client, null))).toMatchObject({
      entries: 2,
      broken: null,
    });
    await expect(target.pool.query('delete from audit_log')).rejects.toThrow('the audit log is only added to');
  });

  it('has no job that goes on by itself, and one that was under way can be resumed', async () => {
    const target = await database(0, 'jobs');
    await restoreFile(target, files[0] ?? Buffer.alloc(0));
    const { rows } = await target.pool.query('select kind, state, error, cursor from jobs order by id');
    expect(rows).toEqual([
      {
        kind: 'promote_metadata',
        state: 'cancelled',
        error: 'it was under way when the backup was made; resume it if it is still wanted',
        cursor: { at: 1 },
      },
      { kind: 'reprice', state: 'done', error: null, cursor: null },
    ]);
  });

  it('sends nothing that waited when the backup was made, and says which alerts are on and whom they tell', async () => {
    const target = await database(0, 'deliveries');
    const { alerts } = await restoreFile(target, files[0] ?? Buffer.alloc(0));
    const { rows } = await target.pool.query('select state, error from alert_deliveries');
    expect(rows).toEqual([{ state: 'dropped', error: 'restored from a backup' }]);
    const { rows: named } = await target.pool.query<{ name: string }>('select name from alert_destinations');
    expect(alerts).toEqual({ count: 1, destinations: named.map(({ name }) => name) });
  });

  it('shows its rows to a live tail as old ones, not as news', async () => {
    const target = await database(0, 'tail');
    await restoreFile(target, files[0] ?? Buffer.alloc(0));
    const { rows } = await target.pool.query(
      'select count(*) as rows from llm_requests where ingest_xid < pg_snapshot_xmin(pg_current_snapshot())',
    );
    expect(rows).toEqual([{ rows: 10 }]);
  });
});

describe('a gateway with a newer schema', () => {
  it('takes the file by its columns, and gives the others their default', async () => {
    const target = await database(0, 'newer');
    await target.pool.query(
      `alter table llm_runs add column later int4 not null default 7;
       insert into schema_migrations (name, checksum) values ('0999_later.sql', repeat('a', 64))`,
    );
    await restoreFile(target, files[0] ?? Buffer.alloc(0));
    const { rows } = await target.pool.query('select later, calls from llm_runs');
    expect(rows).toEqual([{ later: 7, calls: 1 }]);
    await expect(restoreFile(await database(0, 'older'), await backUp(target))).rejects.toMatchObject({
      code: 'backup_newer',
    });
  });
});

describe('a gateway with calls of its own', () => {
  it('is refused, and replaced when that is meant', async () => {
    const target = await database(servers.length - 1, 'replaced');
    await fillEveryTable(target.pool);
    await target.pool.query(`update llm_requests set node = 'mine'; update gateway_keys set name = 'mine'`);
    const before = await readContent(target);
    const file = files[0] ?? Buffer.alloc(0);
    await expect(restoreFile(target, file)).rejects.toMatchObject({
      code: 'gateway_not_empty',
      message: expect.stringContaining('calls (10)'),
    });
    expect(await readContent(target)).toEqual(before);
    const result = await restoreFile(target, file, { replaces: true });
    expect(result.replaced).toContain('calls (10)');
    const { rows } = await target.pool.query(`select count(*) as mine from llm_requests where node = 'mine'`);
    expect(rows).toEqual([{ mine: 0 }]);
  });

  it('is as before when the file is cut or changed anywhere, or the client goes away', async () => {
    const target = await database(0, 'damaged');
    await fillEveryTable(target.pool);
    const before = await readContent(target);
    const file = files[0] ?? Buffer.alloc(0);
    const cuts = [0, 1, 4, 20, file.length >> 1, file.length - 5, file.length - 1].map((at) => file.subarray(0, at));
    const flips = [0, 5, 40, file.length >> 2, file.length >> 1, file.length - 20, file.length - 2].map((at) => {
      const copy = Buffer.from(file);
      copy[at] = (copy[at] ?? 0) ^ 0x10;
      return copy;
    });
    for (const bad of [...cuts, ...flips])
      await expect(restoreFile(target, bad, { replaces: true })).rejects.toMatchObject({
        // A changed header may also be taken for that of another schema.
        code: expect.stringMatching(/^(?:not_a_backup|backup_damaged|backup_foreign|backup_newer)$/),
      });
    await expect(restoreFile(target, file, { replaces: true, signal: AbortSignal.abort() })).rejects.toMatchObject({
      name: 'AbortError',
    });
    expect(await readContent(target)).toEqual(before);
  });

  it('is as before, and free for the next, when the file stops in the middle of its rows', async () => {
    const target = await database(0, 'stopped');
    await fillEveryTable(target.pool);
    const before = await readContent(target);
    const file = files[0] ?? Buffer.alloc(0);
    const gone = new AbortController();
    const plain = async function* () {
      const whole: Buffer[] = [];
      for await (const chunk of unpackBackup(oneChunk(file))) whole.push(chunk);
      yield Buffer.concat(whole).subarray(0, -2_000);
      // By now the log was emptied and most of it filled again, in the transaction that is under way.
      gone.abort();
      throw new Error('the client went away');
    };
    await expect(
      restoreBackup({
        connectionString: target.url,
        plain: plain(),
        replaces: true,
        accountId: 1,
        signal: gone.signal,
      }),
    ).rejects.toMatchObject({ name: 'AbortError' });
    expect(await readContent(target)).toEqual(before);
    expect((await restoreFile(target, file, { replaces: true })).rows).toBeGreaterThan(40);
  });

  it('keeps everything when the database refuses a row at the very end', async () => {
    const target = await database(0, 'refused');
    const before = await readContent(target);
    await target.pool.query(`alter table repriced_list_prices add constraint short check (length(version) < 3)`);
    await expect(restoreFile(target, files[0] ?? Buffer.alloc(0))).rejects.toMatchObject({
      code: 'backup_refused',
      message: expect.stringContaining('repriced_list_prices, 1'),
    });
    expect(await readContent(target)).toEqual(before);
  });

  it('waits for nobody forever', async () => {
    const target = await database(0, 'held');
    const holder = await target.pool.connect();
    try {
      await holder.query('begin');
      await holder.query('update accounts set name = name');
      await expect(restoreFile(target, files[0] ?? Buffer.alloc(0), { lockLimitMs: 100 })).rejects.toMatchObject({
        code: 'log_in_use',
      });
    } finally {
      await holder.query('rollback');
      holder.release();
    }
  });
});

async function* oneChunk(file: Buffer): AsyncGenerator<Buffer> {
  yield file;
}

async function readAll(file: Buffer): Promise<string> {
  try {
    for await (const event of readBackup(unpackBackup(oneChunk(file)))) if (event.type === 'end') return 'whole';
    return 'no end';
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : String(error);
  }
}

describe('the reader of a backup', () => {
  it('takes the file as it is', async () => {
    expect(await readAll(files[0] ?? Buffer.alloc(0))).toBe('whole');
  });

  it('says that it is not whole wherever it is cut', async () => {
    const file = files[0] ?? Buffer.alloc(0);
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: file.length - 1 }), async (at) => {
        expect(await readAll(file.subarray(0, at))).toBe('backup_damaged');
      }),
      { numRuns: 300 },
    );
  });

  it('never takes a file for whole of which a bit was changed', async () => {
    const file = files[0] ?? Buffer.alloc(0);
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: file.length * 8 - 1 }), async (bit) => {
        const copy = Buffer.from(file);
        copy[bit >> 3] = (copy[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        expect(await readAll(copy)).toMatch(/^(?:not_a_backup|backup_damaged)$/);
      }),
      { numRuns: 300 },
    );
  });
});

describe('a backup of another schema', () => {
  const sum = 'a'.repeat(64);
  const header = BackupHeader.parse({
    created_at: '2026-11-28T12:00:00.000Z',
    tollgate_version: '9.0.0',
    postgres_version: '18.1',
    migrations: [
      { name: '0001_first_schema.sql', checksum: sum },
      { name: '0099_later.sql', checksum: sum },
    ],
    days: [],
    tables: [{ name: 'accounts', columns: ['id', 'name'] }],
    spool: { is_stored: true, left_bytes: 0 },
  });
  const columns = new Map([['accounts', ['id', 'name', 'created_at']]]);
  const ours = (names: readonly string[], checksum = sum) => ({
    migrations: names.map((name) => ({ name, checksum })),
    columns,
  });

  it('that is newer is refused with the release that made it', () => {
    expect(() => judgeBackup(header, ours(['0001_first_schema.sql']))).toThrow(
      'The file was made by Tollgate 9.0.0 with the schema 0099_later.sql; this gateway has 0001_first_schema.sql. Update the gateway to that release, or a later one, then restore.',
    );
  });

  it('that is older is taken, with fewer columns', () => {
    const tables = judgeBackup(header, ours(['0001_first_schema.sql', '0099_later.sql', '0100_latest.sql']));
    expect([...tables.keys()]).toEqual(['accounts']);
  });

  it('that was changed by hand is refused', () => {
    expect(() => judgeBackup(header, ours(['0001_first_schema.sql', '0099_later.sql'], 'b'.repeat(64)))).toThrow(
      'not of a release',
    );
    const foreign = { ...header, tables: [{ name: 'accounts', columns: ['id', 'password'] }] };
    expect(() => judgeBackup(foreign, ours(['0001_first_schema.sql', '0099_later.sql']))).toThrow(
      'a column accounts.password',
    );
  });
});
