/**
 * Compares the roll-up by one dimension with the calls, day by day: sums, and distributions bucket by bucket. Of a day, few
 * rows at a time are read, since each has the values of an hour's calls.
 */
import type pg from 'pg';
import { DISTRIBUTION_NAMES, FACET_KEY_COLUMNS, FACET_SOURCE_COLUMNS, facetDeltas, isNotWide } from './call-facets.ts';
import { SUMMED_COLUMNS } from './call-sums.ts';
import { addPacked, addValues, createDistribution, packDistribution } from './distribution.ts';
import type { RollupDifference } from './rollup-difference.ts';

const DAYS = `
  select distinct date_trunc('day', hour, 'UTC') as day from (
    select requested_at as hour from llm_requests union all select hour from llm_facet_hours
  ) h order by 1`;

/** Hours that are not filled yet are not compared. */
function ofDay(time: string, accountId: string): string {
  return `${time} >= $1 and ${time} < $1::timestamptz + interval '24 hours' and ${time} >= coalesce(
    (select filled_from from llm_facet_fill filled where filled.account_id = ${accountId}), '-infinity')`;
}

const CALLS = `(
  select 1 as sign, ${FACET_SOURCE_COLUMNS.join(', ')} from llm_requests r
  where ${ofDay('requested_at', 'r.account_id')}) calls`;

/** A row of each facet and value: the records' sums and lists, and the stored ones. */
const COMPARED = `
  with records as (
    ${facetDeltas(CALLS)}
  ), stored as (
    select ${FACET_KEY_COLUMNS}, ${SUMMED_COLUMNS.map((column) => `sum(${column}) as ${column}`).join(', ')},
      ${DISTRIBUTION_NAMES.map((name) => `array_agg(${name}) as ${name}`).join(', ')}
    from llm_facet_hours f where ${ofDay('f.hour', 'f.account_id')} and ${isNotWide('f.facet')} group by ${FACET_KEY_COLUMNS}
    having sum(calls) <> 0
  )
  select account_id, facet, hour, value, in_run, (${SUMMED_COLUMNS.map((column) => `r.${column}`).join(', ')})::text as records,
    (${SUMMED_COLUMNS.map((column) => `s.${column}`).join(', ')})::text as stored,
    coalesce((${SUMMED_COLUMNS.map((column) => `r.${column}`).join(', ')}) =
      (${SUMMED_COLUMNS.map((column) => `s.${column}`).join(', ')}), false) as is_equal,
    r.account_id is not null as has_records, s.account_id is not null as has_stored,
    ${DISTRIBUTION_NAMES.flatMap((name) => [`r.${name} as record_${name}`, `s.${name} as stored_${name}`]).join(', ')}
  from records r full join stored s using (${FACET_KEY_COLUMNS}) order by hour, facet, value`;

const ROWS_AT_ONCE = 200;

interface ComparedRow {
  readonly account_id: number;
  readonly hour: Date;
  readonly facet: string;
  readonly value: string;
  readonly in_run: boolean;
  readonly records: string;
  readonly stored: string;
  readonly is_equal: boolean;
  readonly has_records: boolean;
  readonly has_stored: boolean;
  readonly [column: string]: unknown;
}

function differsInDistribution(row: ComparedRow): boolean {
  return DISTRIBUTION_NAMES.some((name) => {
    const wanted = createDistribution();
    const list = row[`record_${name}`];
    if (typeof list === 'string') addValues(wanted, list);
    const stored = createDistribution();
    const packed = row[`stored_${name}`];
    for (const bytes of Array.isArray(packed) ? packed : []) if (bytes instanceof Uint8Array) addPacked(stored, bytes);
    return !packDistribution(wanted).equals(packDistribution(stored));
  });
}

/** `client` is in a transaction. */
async function verifyDay(client: pg.ClientBase, day: Date, maxDifferences: number): Promise<RollupDifference[]> {
  const found: RollupDifference[] = [];
  await client.query(`declare compared no scroll cursor for ${COMPARED}`, [day]);
  for (;;) {
    const { rows } = await client.query<ComparedRow>(`fetch ${ROWS_AT_ONCE} from compared`);
    for (const row of rows) found.push(...describeDifferences(row));
    if (rows.length < ROWS_AT_ONCE || found.length >= maxDifferences) break;
  }
  await client.query('close compared');
  return found;
}

function describeDifferences(row: ComparedRow): readonly RollupDifference[] {
  const place = `${row.hour.toISOString()} ${row.facet} ${row.value} ${row.in_run ? 'in runs' : 'outside runs'}`;
  const note = (side: RollupDifference['side'], text: string): RollupDifference => ({
    rollup: 'llm_facet_hourly',
    side,
    account_id: row.account_id,
    trace_id: null,
    row: `${place} ${text}`,
  });
  if (row.is_equal) return differsInDistribution(row) ? [note('rollup', 'has another distribution')] : [];
  return [
    ...(row.has_records ? [note('records', row.records)] : []),
    ...(row.has_stored ? [note('rollup', row.stored)] : []),
  ];
}

export async function verifyFacets(
  client: pg.ClientBase,
  maxDifferences: number,
): Promise<readonly RollupDifference[]> {
  const found: RollupDifference[] = [];
  const { rows: days } = await client.query<{ day: Date }>(DAYS);
  for (const { day } of days) {
    found.push(...(await verifyDay(client, day, maxDifferences - found.length)));
    if (found.length >= maxDifferences) break;
  }
  return found.slice(0, maxDifferences);
}
