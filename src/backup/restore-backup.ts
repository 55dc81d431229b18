/**
 * Puts a backup into the database: one transaction on one connection, under the lock that keeps records in the spool
 * meanwhile. Whatever goes wrong, the database is as before, but for partitions of days without calls. What follows
 * from new keys and prices is the caller's.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { waitForBatches } from '../store/ingest-lock.ts';
import { ensurePartitions } from '../store/partitions.ts';
import { RETENTION_LOCK } from '../store/retention.ts';
import { closeConnection, openSingleConnection } from '../store/single-connection.ts';
import { BackupError } from './backup-error.ts';
import type { BackupHeader } from './backup-format.ts';
import { BACKUP_TABLES } from './backup-tables.ts';
import { fillTable } from './fill-table.ts';
import { listGatewayContent } from './gateway-content.ts';
import { judgeBackup } from './judge-backup.ts';
import { type BackupEvent, readBackup } from './read-backup.ts';
import { listColumns, readMigrations } from './read-schema.ts';

/** A batch takes less, an export may take more. */
const LOCK_LIMIT_MS = 10_000;
const BATCH_TRIES = 10;
/** Each takes a lock for every index; those are of one transaction. */
const DAYS_A_TRANSACTION = 30;
/** For the database to undo it; then the connection is cut, which does the same. */
const ROLLBACK_LIMIT_MS = 5_000;
/**
 * Data exception, integrity constraint violation, program limit exceeded; a partition that is missing is of the second.
 */
const DATA_CLASSES: ReadonlySet<string> = new Set(['22', '23', '54']);
const STOPPED_BY_RESTORE = 'it was under way when the backup was made; resume it if it is still wanted';

export interface RestoreOptions {
  readonly connectionString: string;
  /** The unpacked file. */
  readonly plain: AsyncIterable<Uint8Array>;
  /** Removes what the gateway has of its own; without it a gateway that has something is refused. */
  readonly replaces: boolean;
  /** The account that must be there afterwards. */
  readonly accountId: number;
  /** Aborted when nobody waits for the outcome any more. */
  readonly signal: AbortSignal;
  /** For those who use the log now; shorter in tests. */
  readonly lockLimitMs?: number;
}

export interface RestoreResult {
  readonly header: BackupHeader;
  readonly tables: readonly { readonly name: string; readonly rows: number }[];
  readonly rows: number;
  readonly bytes: number;
  /** What was removed, in words. */
  readonly replaced: readonly string[];
  /** Of the set of keys: above that of the file and the one before. */
  readonly keysVersion: number;
}

/** Throws a BackupError when the file or the gateway is at fault, an AbortError, and what the database throws. */
export async function restoreBackup(options: RestoreOptions): Promise<RestoreResult> {
  const { plain, signal } = options;
  const events = readBackup(plain);
  try {
    const { value: first } = await events.next();
    if (first?.type !== 'header') throw new Error('a backup begins with its header');
    const client = await openSingleConnection({
      connectionString: options.connectionString,
      applicationName: 'tollgate restore',
    });
    // The database undoes what is under way on a connection that is cut.
    const cut = (): void => void closeConnection(client);
    signal.addEventListener('abort', cut, { once: true });
    try {
      signal.throwIfAborted();
      return await restore(client, first.header, events, options);
    } catch (error) {
      signal.throwIfAborted();
      throw explain(error);
    } finally {
      signal.removeEventListener('abort', cut);
      await closeConnection(client);
    }
  } finally {
    await events.return(undefined);
  }
}

function explain(error: unknown): unknown {
  if (!(error instanceof pg.DatabaseError)) return error;
  const { code = '', message, where } = error;
  if (code === '55P03' || code === '40P01')
    return new BackupError(
      'log_in_use',
      'Something else uses the log, such as an export or a job, and did not end in time; nothing was changed. Try again.',
      { cause: error },
    );
  if (DATA_CLASSES.has(code.slice(0, 2))) {
    // The place, without the values that stand behind it.
    const place = /^COPY (\w+), line (\d+)(?:, column (\w+))?/.exec(where ?? '');
    const told = place === null ? '' : ` (${place.slice(1).filter(Boolean).join(', ')})`;
    return new BackupError(
      'backup_refused',
      `The database refused what is in the file, and nothing was changed: ${code}${told}.`,
      { cause: error },
    );
  }
  if (code === '53200' && /max_locks_per_transaction/.test(`${message} ${error.hint ?? ''}`))
    return new BackupError(
      'backup_refused',
      'The log has more days than the database can lock at a time, and nothing was changed: raise its max_locks_per_transaction.',
      { cause: error },
    );
  return error;
}

async function restore(
  client: pg.Client,
  header: BackupHeader,
  events: AsyncGenerator<BackupEvent>,
  options: RestoreOptions,
): Promise<RestoreResult> {
  const schema = { migrations: await readMigrations(client), columns: await listColumns(client) };
  judgeBackup(header, schema);
  const lockLimitMs = options.lockLimitMs ?? LOCK_LIMIT_MS;
  await client.query(`set lock_timeout = ${lockLimitMs}`);
  // Until the connection ends: what is past the limits here would be dropped while it is being filled.
  await client.query('select pg_advisory_lock($1)', [RETENTION_LOCK]);
  await refuseUnlessEmpty(client, options.replaces);
  for (let at = 0; at < header.days.length; at += DAYS_A_TRANSACTION)
    await inOwnTransaction(client, () => ensurePartitions(client, header.days.slice(at, at + DAYS_A_TRANSACTION)));
  await beginAlone(client);
  try {
    const result = await replaceContent(client, header, events, options);
    options.signal.throwIfAborted();
    await client.query('commit');
    await analyze(client);
    return result;
  } catch (error) {
    await undo(client);
    throw error;
  }
}

/** So that questions are planned well from the start; of partitioned tables nothing else would ever do it. */
async function analyze(client: pg.Client): Promise<void> {
  const logs = BACKUP_TABLES.filter(({ kind }) => kind === 'log').map(({ name }) => name);
  // The restore is done whether or not this is.
  await client.query(`analyze ${logs.join(', ')}`).catch(() => {});
}

async function refuseUnlessEmpty(client: pg.Client, replaces: boolean): Promise<readonly string[]> {
  const content = await listGatewayContent(client);
  if (content.length === 0 || replaces) return content;
  throw new BackupError(
    'gateway_not_empty',
    `This gateway has ${content.join(', ')}, and a restore would remove them. Restore into an empty gateway, or replace what this one has.`,
  );
}

async function inOwnTransaction(client: pg.Client, work: () => Promise<void>): Promise<void> {
  await client.query('begin');
  try {
    await work();
    await client.query('commit');
  } catch (error) {
    await undo(client);
    throw error;
  }
}

/** When it resolves, no batch is under way, and none begins before the end. */
async function beginAlone(client: pg.Client): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    await client.query('begin');
    try {
      return await waitForBatches(client);
    } catch (error) {
      await undo(client);
      const isBusy = error instanceof pg.DatabaseError && error.code === '55P03';
      if (!isBusy || attempt === BATCH_TRIES) throw error;
    }
  }
}

/** With the connection the transaction goes as well. */
async function undo(client: pg.Client): Promise<void> {
  await Promise.race([client.query('rollback').catch(() => {}), sleep(ROLLBACK_LIMIT_MS, undefined, { ref: false })]);
}

async function replaceContent(
  client: pg.Client,
  header: BackupHeader,
  events: AsyncGenerator<BackupEvent>,
  { replaces, accountId, lockLimitMs = LOCK_LIMIT_MS }: RestoreOptions,
): Promise<RestoreResult> {
  await client.query(`set local lock_timeout = ${lockLimitMs}`);
  // Whoever changes something waits until the end; whoever reads sees what was there before.
  const names = BACKUP_TABLES.map(({ name }) => `only ${name}`).join(', ');
  await client.query(`lock table ${names} in exclusive mode`);
  const replaced = await refuseUnlessEmpty(client, replaces);
  const versions = await readVersions(client);
  await empty(client, header, replaces);
  await client.query('set local lock_timeout = 0');
  const tables: { name: string; rows: number }[] = [];
  for (;;) {
    const { value: event } = await events.next();
    if (event?.type === 'table') tables.push({ name: event.name, rows: await fillTable(client, event, events) });
    else if (event?.type === 'end') {
      await checkCounts(client, tables, accountId);
      await stopJobs(client);
      await raiseSequences(client);
      const keysVersion = await raiseVersions(client, versions);
      return { header, tables, rows: event.rows, bytes: event.bytes, replaced, keysVersion };
    } else throw new Error(`a backup goes on with ${event?.type ?? 'nothing'}`);
  }
}

/** A table that an older file does not know keeps what every gateway has in it. */
async function empty(client: pg.Client, header: BackupHeader, replaces: boolean): Promise<void> {
  const inFile = new Set(header.tables.map(({ name }) => name));
  const logs = BACKUP_TABLES.filter(({ kind }) => kind === 'log').map(({ name }) => name);
  if (replaces) await client.query(`truncate ${logs.join(', ')}`);
  for (const { name, kind } of BACKUP_TABLES.toReversed())
    if (kind === 'own' || (kind === 'kept' && inFile.has(name))) await client.query(`delete from ${name}`);
}

async function checkCounts(
  client: pg.Client,
  tables: readonly { readonly name: string; readonly rows: number }[],
  accountId: number,
): Promise<void> {
  for (const { name, rows } of tables) {
    const answer = await client.query<{ count: string }>(`select count(*)::text as count from ${name}`);
    const found = Number(answer.rows[0]?.count);
    if (found !== rows) throw new Error(`${name} has ${found} rows after the restore, and should have ${rows}`);
  }
  const account = await client.query('select from accounts where id = $1', [accountId]);
  if (account.rowCount !== 1)
    throw new BackupError('backup_foreign', `The file has no account ${accountId}, which is the one of a gateway.`);
}

/** A job of long ago does not go on by itself, but can be told to: its cursor is of the same moment as the log. */
async function stopJobs(client: pg.Client): Promise<void> {
  await client.query(
    `update jobs set state = 'cancelled', finished_at = now(), rate_per_second = null, error = $1
     where state in ('queued', 'running')`,
    [STOPPED_BY_RESTORE],
  );
}

/** Upwards only: a sequence does not come back with a transaction that is undone. */
async function raiseSequences(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ name: string; column: string; sequence: string }>(
    `select c.relname as name, a.attname as column, pg_get_serial_sequence(c.relname, a.attname) as sequence
     from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attidentity <> ''
     where c.relnamespace = current_schema()::regnamespace and c.relname = any($1)`,
    [BACKUP_TABLES.map(({ name }) => name)],
  );
  for (const { name, column, sequence } of rows)
    await client.query(
      `select setval('${sequence}', greatest((select last_value from ${sequence}), (select max(${column}) from ${name})))`,
    );
}

interface Versions {
  readonly keys: string;
  readonly prices: string;
}

async function readVersions(client: pg.Client): Promise<Versions> {
  const { rows } = await client.query<Versions>(
    'select k.version::text as keys, p.version::text as prices from key_snapshot k, price_book_version p',
  );
  const [row] = rows;
  if (row === undefined) throw new Error('the tables key_snapshot and price_book_version are empty');
  return row;
}

/** Above both: the proxies take a set of keys only when it is later than theirs, and so do those who read prices. */
async function raiseVersions(client: pg.Client, before: Versions): Promise<number> {
  await client.query('update price_book_version set version = greatest(version, $1::int8) + 1', [before.prices]);
  const { rows } = await client.query<{ version: string }>(
    'update key_snapshot set version = greatest(version, $1::int8) + 1 returning version::text as version',
    [before.keys],
  );
  const [row] = rows;
  if (row === undefined) throw new BackupError('backup_foreign', 'The file has no version of its keys.');
  return Number(row.version);
}
