/**
 * Restores a backup in one transaction, under the lock that keeps records in the spool. A failure leaves the database
 * as before, except for empty partitions. The caller handles new keys and prices.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { readChainEnds } from '../audit/list-entries.ts';
import { noteChange } from '../audit/note-change.ts';
import { DEADLOCK, errorCode, isDataError, LOCK_NOT_AVAILABLE } from '../store/database-error.ts';
import { waitForBatches } from '../store/ingest-lock.ts';
import { ensurePartitions } from '../store/partitions.ts';
import { renewSums } from '../store/renew-sums.ts';
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

const LOCK_LIMIT_MS = 10_000;
const BATCH_TRIES = 10;
/** Each partition locks all its indexes until its transaction ends. */
const DAYS_A_TRANSACTION = 30;
const ROLLBACK_LIMIT_MS = 5_000;
const DROPPED_BY_RESTORE = 'restored from a backup';
const STOPPED_BY_RESTORE = 'it was under way when the backup was made; resume it if it is still wanted';

export interface RestoreOptions {
  readonly connectionString: string;
  readonly plain: AsyncIterable<Uint8Array>;
  /** Removes the gateway's own content; otherwise a gateway with some is refused. */
  readonly replaces: boolean;
  readonly accountId: number;
  /** Aborted when nobody waits for the outcome. */
  readonly signal: AbortSignal;
  /** The wait for users of the log; shorter in tests. */
  readonly lockLimitMs?: number;
}

export interface RestoreResult {
  readonly header: BackupHeader;
  readonly tables: readonly { readonly name: string; readonly rows: number }[];
  readonly rows: number;
  readonly bytes: number;
  readonly replaced: readonly string[];
  readonly alerts: AlertsOn;
  /** Exceeds the versions of the file and of the gateway before. */
  readonly keysVersion: number;
}

/** What looks at the restored log from now on. */
export interface AlertsOn {
  readonly count: number;
  /** Whom they tell: names of destinations, by name. */
  readonly destinations: readonly string[];
}

/** Throws a BackupError for a fault of the file or gateway, an AbortError, or the database's error. */
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
    // The database rolls back when the connection is cut.
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
  if (code === LOCK_NOT_AVAILABLE || code === DEADLOCK)
    return new BackupError(
      'log_in_use',
      'Something else uses the log, such as an export or a job, and did not end in time; nothing was changed. Try again.',
      { cause: error },
    );
  if (isDataError(error)) {
    // The place of the error, without the values behind it.
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
  // Held until the connection ends: retention would drop old days while they are filled.
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

/** PostgreSQL never analyses partitioned tables by itself. */
async function analyze(client: pg.Client): Promise<void> {
  const logs = BACKUP_TABLES.filter(({ kind }) => kind === 'log').map(({ name }) => name);
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
      if (errorCode(error) !== LOCK_NOT_AVAILABLE || attempt === BATCH_TRIES) throw error;
    }
  }
}

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
  // Writers wait until the end; readers see the former content.
  const names = BACKUP_TABLES.map(({ name }) => `only ${name}`).join(', ');
  await client.query(`lock table ${names} in exclusive mode`);
  const replaced = await refuseUnlessEmpty(client, replaces);
  const versions = await readVersions(client);
  const audited = await readChainEnds(client);
  await empty(client, header, replaces);
  await client.query('set local lock_timeout = 0');
  const tables: { name: string; rows: number }[] = [];
  for (;;) {
    const { value: event } = await events.next();
    if (event?.type === 'table') tables.push({ name: event.name, rows: await fillTable(client, event, events) });
    else if (event?.type === 'end') {
      await checkCounts(client, tables, accountId);
      await stopJobs(client);
      await dropDeliveries(client);
      await endSessions(client);
      await renewSums(client);
      await markUnfilled(client, header);
      await raiseSequences(client);
      const keysVersion = await raiseVersions(client, versions);
      // The chain goes on as it was in the file; its next row says where the one ended that stood here.
      await noteChange(client, {
        accountId,
        action: 'backup.restore',
        subject: { kind: 'backup', id: null },
        before: { audit_seq: audited.seq, audit_hash: `sha256:${audited.hash}` },
        after: { made_at: header.created_at, rows: event.rows, replaced },
      });
      return {
        header,
        tables,
        rows: event.rows,
        bytes: event.bytes,
        replaced,
        alerts: await listAlertsOn(client),
        keysVersion,
      };
    } else throw new Error(`a backup goes on with ${event?.type ?? 'nothing'}`);
  }
}

/** Tables that an older file lacks keep the rows of every gateway. */
async function empty(client: pg.Client, header: BackupHeader, replaces: boolean): Promise<void> {
  const inFile = new Set(header.tables.map(({ name }) => name));
  const logs = BACKUP_TABLES.filter(({ kind }) => kind === 'log').map(({ name }) => name);
  if (replaces) await client.query(`truncate ${logs.join(', ')}`);
  // What is restored looks as if it had been stored long ago: the index of the search begins anew.
  await client.query('delete from llm_search_state');
  if (inFile.has('audit_log')) await client.query('alter table audit_log disable trigger user');
  for (const { name, kind } of BACKUP_TABLES.toReversed())
    if (kind === 'own' || (kind === 'kept' && inFile.has(name))) await client.query(`delete from ${name}`);
  if (inFile.has('audit_log')) await client.query('alter table audit_log enable trigger user');
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

/** Old jobs do not go on by themselves but can be resumed: their cursors match the log. */
async function stopJobs(client: pg.Client): Promise<void> {
  await client.query(
    `update jobs set state = 'cancelled', finished_at = now(), rate_per_second = null, error = $1
     where state in ('queued', 'running')`,
    [STOPPED_BY_RESTORE],
  );
}

/** Whoever is told should hear of this gateway, not of what another one found before. */
async function dropDeliveries(client: pg.Client): Promise<void> {
  await client.query("update alert_deliveries set state = 'dropped', error = $1 where state = 'waiting'", [
    DROPPED_BY_RESTORE,
  ]);
}

async function listAlertsOn(client: pg.Client): Promise<AlertsOn> {
  const { rows } = await client.query<AlertsOn>(
    `select (select count(*) from alerts where is_on)::int4 as count, array(
       select d.name from alert_destinations d
       where exists (select from alerts a where a.account_id = d.account_id and a.is_on and d.id = any(a.destinations))
       order by d.name, d.id) as destinations`,
  );
  return rows[0] ?? { count: 0, destinations: [] };
}

/** A person of before has their number no more; one of the file may have been signed out since it was made. */
async function endSessions(client: pg.Client): Promise<void> {
  await client.query('update people set session_key = gen_random_uuid()');
}

/** A file of a former release has no sums by facet: they are made again from the calls, the newest hours first. */
async function markUnfilled(client: pg.Client, header: BackupHeader): Promise<void> {
  if (header.tables.some(({ name }) => name === 'llm_facet_hourly')) return;
  await client.query("insert into llm_facet_fill (account_id, filled_from) select id, 'infinity' from accounts");
}

/** Only upwards, since a rollback does not restore sequences. */
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

/** Exceeds both versions: proxies and readers of prices accept only later ones. */
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
