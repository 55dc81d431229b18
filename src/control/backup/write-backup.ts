/** Writes a backup unpacked: every table by COPY from one snapshot, as frames of `backup-format.ts`. */
import { createHash } from 'node:crypto';
import type pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import {
  type BackupHeader,
  countRows,
  encodeFrame,
  type FrameType,
  MAGIC,
  MAX_DATA_BYTES,
  MAX_TEXT_BYTES,
  type TableEnd,
} from './backup-format.ts';
import { BACKUP_TABLES, type BackupTable } from './backup-tables.ts';
import { listLogDays } from './list-log-days.ts';
import { listColumns, readMigrations } from './read-schema.ts';

export interface BackupFacts {
  readonly tollgateVersion: string;
  readonly spool: BackupHeader['spool'];
}

interface PlannedTable extends BackupTable {
  readonly columns: readonly string[];
}

/** `client` is used for nothing else until the end; its owner closes it. Failures are thrown. */
export async function* writeBackup(client: pg.ClientBase, facts: BackupFacts): AsyncGenerator<Buffer> {
  // A policy that hides rows must fail, or the backup would lack them.
  await client.query('begin transaction isolation level repeatable read read only; set local row_security = off');
  const tables: readonly PlannedTable[] = await planTables(client);
  const header = await readHeader(client, facts, tables);
  let rows = 0;
  let bytes = 0;
  yield MAGIC;
  yield textFrame('header', header);
  for (const table of tables) {
    yield textFrame('table', { name: table.name });
    const end = yield* writeRows(client, table);
    rows += end.rows;
    bytes += end.bytes;
    yield textFrame('table_end', end);
  }
  await client.query('commit');
  yield textFrame('trailer', { rows, bytes });
}

function textFrame(type: Exclude<FrameType, 'data'>, content: object): Buffer {
  const payload = Buffer.from(JSON.stringify(content));
  if (payload.length > MAX_TEXT_BYTES) throw new Error(`a backup's ${type} has ${payload.length} bytes`);
  return encodeFrame(type, payload);
}

async function planTables(client: pg.ClientBase): Promise<readonly PlannedTable[]> {
  const columns = await listColumns(client);
  return BACKUP_TABLES.map((table) => {
    const own = columns.get(table.name);
    if (own === undefined) throw new Error(`the database has no table ${table.name}`);
    return { ...table, columns: own };
  });
}

async function readHeader(
  client: pg.ClientBase,
  { tollgateVersion, spool }: BackupFacts,
  tables: readonly PlannedTable[],
): Promise<BackupHeader> {
  // The first query takes the snapshot.
  const { rows } = await client.query<{ version: string; now: Date }>(
    "select current_setting('server_version') as version, now()",
  );
  const [row] = rows;
  if (row === undefined) throw new Error('the database does not tell its version');
  return {
    created_at: row.now.toISOString(),
    tollgate_version: tollgateVersion,
    postgres_version: row.version,
    migrations: [...(await readMigrations(client))],
    days: [...(await listLogDays(client))],
    tables: tables.map(({ name, columns }) => ({ name, columns: [...columns] })),
    spool,
  };
}

/** COPY takes a partitioned table only as a query. */
function copyStatement({ name, columns, constants = {} }: PlannedTable): string {
  const values = columns.map((column) => constants[column] ?? column);
  return `copy (select ${values.join(', ')} from ${name}) to stdout`;
}

async function* writeRows(client: pg.ClientBase, table: PlannedTable): AsyncGenerator<Buffer, TableEnd> {
  const hash = createHash('sha256');
  const stream = client.query(copyTo(copyStatement(table)));
  let rows = 0;
  let bytes = 0;
  for await (const piece of inPieces(stream)) {
    hash.update(piece);
    rows += countRows(piece);
    bytes += piece.length;
    yield encodeFrame('data', piece);
  }
  if (stream.rowCount !== rows) throw new Error(`${table.name}: ${rows} rows read of ${stream.rowCount}`);
  return { rows, bytes, sha256: hash.digest('hex') };
}

/** Gathers rows into pieces of a frame's size. */
async function* inPieces(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let waiting: Buffer[] = [];
  let length = 0;
  for await (const chunk of source) {
    for (let at = 0; at < chunk.length; ) {
      const part = chunk.subarray(at, at + MAX_DATA_BYTES - length);
      waiting.push(part);
      length += part.length;
      at += part.length;
      if (length < MAX_DATA_BYTES) continue;
      yield Buffer.concat(waiting);
      waiting = [];
      length = 0;
    }
  }
  if (length > 0) yield Buffer.concat(waiting);
}
