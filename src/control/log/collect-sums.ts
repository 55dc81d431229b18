/** Sums and distributions over calls, put together from hours of the roll-up by one dimension and from records. */
import { type RawBuilder, sql } from 'kysely';
import type pg from 'pg';
import { recordOf } from '../../vocabulary/record-of.ts';
import { DISTRIBUTION_NAMES, VALUE_LISTS } from './call-facets.ts';
import { addCallSums, CALL_SUMS, type CallSums, NO_SUMS, readCallSums, SUMS_OF_SUMS, takenBack } from './call-sums.ts';
import type { TimeRange } from './cost-source.ts';
import { addPacked, addValues, createDistribution, type Distribution, percentilesOf } from './distribution.ts';
import { type FacetPart, facetConditions, type RunMembership } from './facet-plan.ts';
import { allOf, type Condition, runSql, type SqlRow } from './run-sql.ts';

export interface CollectedSums {
  /** By the start of the bucket, in milliseconds since 1970. */
  readonly byStart: Map<number, CallSums>;
  readonly distributions: Readonly<Record<(typeof DISTRIBUTION_NAMES)[number], Distribution>>;
  /** Not all distributions were read. */
  isUndistributed: boolean;
}

export interface CallPercentiles {
  readonly p50_duration_ms: number | null;
  readonly p95_duration_ms: number | null;
  readonly p99_duration_ms: number | null;
  readonly p50_first_token_ms: number | null;
  readonly p95_first_token_ms: number | null;
  readonly p99_first_token_ms: number | null;
  readonly p50_tokens_per_second: number | null;
}

/** A filter that takes in more rows than these, such as all values of a key over months, has no percentiles. */
const MAX_DISTRIBUTED_ROWS = 20_000;

export function collectNothing(): CollectedSums {
  return {
    byStart: new Map(),
    distributions: recordOf(DISTRIBUTION_NAMES, createDistribution),
    isUndistributed: false,
  };
}

function startOf(row: SqlRow): number {
  return row['start'] instanceof Date ? row['start'].getTime() : 0;
}

function bucketOf(bucketMs: number, column: string) {
  return sql`date_bin(make_interval(secs => ${bucketMs / 1_000}::float8), ${sql.ref(column)}::timestamptz, 'epoch'::timestamptz)`;
}

function collect(into: CollectedSums, start: number, sums: CallSums, sign: 1 | -1): void {
  const signed = sign === 1 ? sums : takenBack(sums);
  into.byStart.set(start, addCallSums([into.byStart.get(start) ?? NO_SUMS, signed]));
}

/** `calls` is a condition on `source`, which has rows of `llm_requests`. */
export async function collectRecords(
  client: pg.ClientBase,
  calls: readonly Condition[],
  bucketMs: number,
  into: CollectedSums,
  sign: 1 | -1 = 1,
  source: RawBuilder<unknown> = sql`llm_requests`,
): Promise<void> {
  const rows = await runSql(
    client,
    sql`select ${bucketOf(bucketMs, 'requested_at')} as start, ${CALL_SUMS}, ${sql.raw(VALUE_LISTS)}
      from ${source} where ${allOf(calls)} group by 1`,
  );
  for (const row of rows) {
    collect(into, startOf(row), readCallSums(row), sign);
    addLists(into, row, sign);
  }
}

function addLists(into: CollectedSums, row: SqlRow, sign: 1 | -1): void {
  for (const name of DISTRIBUTION_NAMES) {
    const list = row[name];
    if (typeof list === 'string') addValues(into.distributions[name], list, sign);
  }
}

/** `hours` begins and ends with an hour, and buckets are whole hours. */
export async function collectHours(
  client: pg.ClientBase,
  accountId: number,
  part: FacetPart,
  hours: TimeRange,
  bucketMs: number,
  calls: RunMembership,
  into: CollectedSums,
): Promise<void> {
  const conditions = facetConditions(accountId, part, hours, calls);
  const rows = await runSql(
    client,
    sql`select ${bucketOf(bucketMs, 'hour')} as start, ${SUMS_OF_SUMS} from llm_facet_hours where ${conditions} group by 1`,
  );
  for (const row of rows) collect(into, startOf(row), readCallSums(row), part.sign);
  const names = sql.join(DISTRIBUTION_NAMES.map((name) => sql.ref(name)));
  const packed = await runSql(
    client,
    sql`select ${names} from llm_facet_hours where ${conditions} limit ${MAX_DISTRIBUTED_ROWS + 1}`,
  );
  if (packed.length > MAX_DISTRIBUTED_ROWS) into.isUndistributed = true;
  for (const row of packed)
    for (const name of DISTRIBUTION_NAMES) {
      const bytes = row[name];
      if (bytes instanceof Uint8Array) addPacked(into.distributions[name], bytes, part.sign);
    }
}

const SHARES = [0.5, 0.95, 0.99];

export function readCallPercentiles({ distributions, isUndistributed }: CollectedSums): CallPercentiles {
  const of = (name: (typeof DISTRIBUTION_NAMES)[number]) =>
    isUndistributed ? [null, null, null] : percentilesOf(distributions[name], SHARES);
  const [durations, firstTokens, speeds] = [of('durations'), of('first_tokens'), of('speeds')];
  const speed = speeds[0] ?? null;
  return {
    p50_duration_ms: durations[0] ?? null,
    p95_duration_ms: durations[1] ?? null,
    p99_duration_ms: durations[2] ?? null,
    p50_first_token_ms: firstTokens[0] ?? null,
    p95_first_token_ms: firstTokens[1] ?? null,
    p99_first_token_ms: firstTokens[2] ?? null,
    p50_tokens_per_second: speed === null ? null : Math.round(speed / 10) / 100,
  };
}
