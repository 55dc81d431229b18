/**
 * Indexes the next calls: those that came since, in the order in which they were stored, in segments of about 2,000; what
 * is left over waits and is read by each search. Calls of before the index follow day by day, the newest first. Each step
 * is one transaction with the state behind it, so that every call is in the index or known not to be.
 */
import type pg from 'pg';
import { DAY_MS, dayOf } from '../store/partitions.ts';
import { inTransaction } from '../store/pool.ts';
import { createGramSet, type GramSet } from './grams.ts';
import { SEARCH_SOURCES, type SearchSource } from './search-sources.ts';
import { encodeSegment, MAX_STRETCHES } from './segment.ts';

/** An advisory lock, the same in every version. */
export const SEARCH_LOCK = 7_461_018;
export const SEGMENT_CALLS = 2_048;
/** Whoever finds a stretch reads all its calls. */
const STRETCH_CALLS = SEGMENT_CALLS / MAX_STRETCHES;
/** A stretch ends at a gap: calls in there, of other segments, would be read as well. It is wider where calls are rare. */
const LEAST_GAP_MS = 60_000;
const GAP_OF_USUAL = 20;

const LOWEST_ID = '00000000-0000-0000-0000-000000000000';
export const HIGHEST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

export interface IndexOptions {
  readonly pool: pg.Pool;
  /** Of a segment; in tests fewer. */
  readonly segmentCalls?: number;
}

/** What a step found: `idle` when there is nothing to do, or another node does it. */
export type IndexStep = 'indexed' | 'idle';

export async function indexNext(options: IndexOptions): Promise<IndexStep> {
  const grams = createGramSet();
  for (const source of SEARCH_SOURCES) {
    const step = await inTransaction(options.pool, (client) =>
      indexSource(client, source, options.segmentCalls ?? SEGMENT_CALLS, grams),
    );
    if (step === 'indexed') return step;
  }
  return 'idle';
}

/** Whether `indexNext` has something to do, unless another node does it. */
export async function hasWork(pool: pg.Pool): Promise<boolean> {
  for (const source of SEARCH_SOURCES) {
    const state = await readState(pool, source);
    if (state === null) return true;
    const { rowCount } = await pool.query('select from llm_search_days where source = $1 limit 1', [source.name]);
    if (rowCount !== 0 || (await isSegmentFull(pool, source, state, SEGMENT_CALLS))) return true;
  }
  return false;
}

async function isSegmentFull(
  client: pg.ClientBase | pg.Pool,
  source: SearchSource,
  { xid, id }: Place,
  limit: number,
): Promise<boolean> {
  const { rowCount } = await client.query(`select from (${newRows(source, 'id')} offset $3 - 1) waiting`, [
    xid,
    id,
    limit,
  ]);
  return rowCount !== 0;
}

async function indexSource(
  client: pg.ClientBase,
  source: SearchSource,
  limit: number,
  grams: GramSet,
): Promise<IndexStep> {
  const { rows } = await client.query<{ isOurs: boolean }>('select pg_try_advisory_xact_lock($1) as "isOurs"', [
    SEARCH_LOCK,
  ]);
  if (rows[0]?.isOurs !== true) return 'idle';
  const state = (await readState(client, source)) ?? (await beginAnew(client, source));
  if (await indexNew(client, source, state, limit, grams)) return 'indexed';
  return (await indexOld(client, source, limit, grams)) ? 'indexed' : 'idle';
}

interface Place {
  readonly xid: string;
  readonly id: string;
}

/** Null for no state, or for that of another server, whose transactions count differently. */
async function readState(client: pg.ClientBase | pg.Pool, source: SearchSource): Promise<Place | null> {
  const { rows } = await client.query<Place>(
    `select xid::text, id from llm_search_state
     where source = $1 and xid <= pg_snapshot_xmax(pg_current_snapshot())`,
    [source.name],
  );
  return rows[0] ?? null;
}

/** Calls whose transactions have ended are old, all others are new. */
async function beginAnew(client: pg.ClientBase, { name, table, segments }: SearchSource): Promise<Place> {
  await client.query(`delete from ${segments}`);
  await client.query('delete from llm_search_days where source = $1', [name]);
  const { rows } = await client.query<Place>(
    `insert into llm_search_state (source, xid, id) values ($1, pg_snapshot_xmin(pg_current_snapshot()), $2)
     on conflict (source) do update set xid = excluded.xid, id = excluded.id returning xid::text, id`,
    [name, LOWEST_ID],
  );
  await client.query(
    `insert into llm_search_days (source, day, before)
     select $1, substring(c.relname from '\\d{8}$')::date, $2
     from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = $3::regclass and c.relname ~ '_p\\d{8}$'`,
    [name, HIGHEST_ID, table],
  );
  const [state] = rows;
  if (state === undefined) throw new Error('the search index has no state');
  return state;
}

interface FoundCall {
  readonly id: string;
  readonly requested_at: Date;
}

interface FoundRow extends FoundCall, Place {}

/** Transactions under way may still add calls before others, so it stops before the oldest. */
function newRows({ table }: SearchSource, columns: string): string {
  return `select ${columns} from ${table}
    where (ingest_xid, id) > ($1::xid8, $2::uuid) and ingest_xid < pg_snapshot_xmin(pg_current_snapshot())
    order by ingest_xid, id limit $3`;
}

async function indexNew(
  client: pg.ClientBase,
  source: SearchSource,
  { xid, id }: Place,
  limit: number,
  grams: GramSet,
): Promise<boolean> {
  if (!(await isSegmentFull(client, source, { xid, id }, limit))) return false;
  const { rows } = await client.query<FoundRow>(newRows(source, 'id, requested_at, ingest_xid::text as xid'), [
    xid,
    id,
    limit,
  ]);
  const last = rows.at(-1);
  if (last === undefined) return false;
  await storeSegments(client, source, rows, grams);
  await client.query('update llm_search_state set xid = $2, id = $3 where source = $1', [
    source.name,
    last.xid,
    last.id,
  ]);
  return true;
}

async function indexOld(client: pg.ClientBase, source: SearchSource, limit: number, grams: GramSet): Promise<boolean> {
  const { rows: days } = await client.query<{ readonly day: string; readonly before: string }>(
    'select day::text, before from llm_search_days where source = $1 order by day desc limit 1',
    [source.name],
  );
  const [next] = days;
  if (next === undefined) return false;
  const { day, before } = next;
  const { rows } = await client.query<FoundCall>(
    `select id, requested_at from ${source.table}
     where requested_at >= $1 and requested_at < $2 and id < $3 order by id desc limit $4`,
    [`${day} 00:00:00+00`, `${dayOf(Date.parse(day) + DAY_MS)} 00:00:00+00`, before, limit],
  );
  if (rows.length > 0) await storeSegments(client, source, rows, grams);
  const last = rows.at(-1);
  if (last === undefined || rows.length < limit)
    await client.query('delete from llm_search_days where source = $1 and day = $2', [source.name, day]);
  else
    await client.query('update llm_search_days set before = $3 where source = $1 and day = $2', [
      source.name,
      day,
      last.id,
    ]);
  return true;
}

async function storeSegments(
  client: pg.ClientBase,
  source: SearchSource,
  calls: readonly FoundCall[],
  grams: GramSet,
): Promise<void> {
  for (const stretches of divide(calls)) {
    const found: (Uint32Array | null)[] = [];
    for (let first = 0; first < stretches.length; first += source.stretchesAtOnce)
      found.push(...(await readGrams(client, source, stretches.slice(first, first + source.stretchesAtOnce), grams)));
    const { directory, grams: bytes, saturated } = encodeSegment(found);
    const starts = stretches.map((stretch) => stretch[0]?.requested_at);
    const ends = stretches.map((stretch) => stretch.at(-1)?.requested_at);
    const count = stretches.reduce((sum, stretch) => sum + stretch.length, 0);
    await client.query(
      `insert into ${source.segments} (first_at, last_at, calls, starts, ends, saturated, directory, grams)
       values ($1, $2, $3, $4, $5, $6, $7, $8)`,
      [starts[0], ends.at(-1), count, starts, ends, saturated, directory, bytes],
    );
  }
}

async function readGrams(
  client: pg.ClientBase,
  { table, columns, addRow }: SearchSource,
  stretches: readonly (readonly FoundCall[])[],
  grams: GramSet,
): Promise<readonly (Uint32Array | null)[]> {
  const calls = stretches.flat();
  const { rows } = await client.query<Record<string, unknown>>(
    `select id, ${columns.join(', ')} from ${table} where id = any($1::uuid[]) and requested_at between $2 and $3`,
    [calls.map(({ id }) => id), calls[0]?.requested_at, calls.at(-1)?.requested_at],
  );
  const byId = new Map(rows.map((row) => [row['id'], row]));
  return stretches.map((stretch) => {
    for (const { id } of stretch) {
      const row = byId.get(id);
      if (row !== undefined) addRow(row, grams);
    }
    return grams.take();
  });
}

/** Segments of at most 64 stretches each, in the order of time. A segment is of one day, which retention drops whole. */
function divide(rows: readonly FoundCall[]): readonly (readonly FoundCall[])[][] {
  const segments: FoundCall[][][] = [];
  const times = rows.map((row) => row.requested_at.getTime());
  const usualMs = (times.reduce((a, b) => Math.max(a, b), 0) - times.reduce((a, b) => Math.min(a, b))) / rows.length;
  const maxGapMs = Math.max(LEAST_GAP_MS, GAP_OF_USUAL * usualMs);
  let lastMs = Number.NEGATIVE_INFINITY;
  for (const row of rows.toSorted((a, b) => a.requested_at.getTime() - b.requested_at.getTime())) {
    const ms = row.requested_at.getTime();
    const isNextDay = Math.floor(ms / DAY_MS) !== Math.floor(lastMs / DAY_MS);
    let segment = segments.at(-1);
    let stretch = segment?.at(-1);
    if (segment === undefined || isNextDay) {
      segment = [];
      segments.push(segment);
      stretch = undefined;
    }
    if (stretch === undefined || stretch.length === STRETCH_CALLS || ms - lastMs > maxGapMs) {
      if (segment.length === MAX_STRETCHES) {
        segment = [];
        segments.push(segment);
      }
      stretch = [];
      segment.push(stretch);
    }
    stretch.push(row);
    lastMs = ms;
  }
  return segments;
}
