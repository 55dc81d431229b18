/**
 * Calls with chosen costs and metadata for tests of sums, and the sums themselves by other means than the product's: every
 * record is read and added up here, one by one.
 */
import type pg from 'pg';
import type { CallSums } from '../../src/control/log/call-sums.ts';
import type { CostInterval } from '../../src/control/log/cost-query.ts';
import type { CostBucket, CostTable } from '../../src/control/log/cost-table.ts';
import type { BatchItem } from '../../src/control/shipper/batch-item.ts';
import { buildBatch } from '../../src/control/shipper/build-batch.ts';
import { encodeCopyText } from '../../src/control/store/copy-text.ts';
import type { PriceCall } from '../../src/pricing/billable-call.ts';
import type { Outcome, ProviderName } from '../../src/vocabulary/call-record.ts';
import { formatUsd, parseUsd } from '../../src/vocabulary/usd.ts';
import { callBegin, callEnd, priceByToken } from './call-fixtures.ts';

export interface MadeCall {
  readonly number: number;
  readonly atMs: number;
  /** Millionths of a dollar. */
  readonly cost: number;
  /** `partly`: the cost is what is known; `not`: nothing is. */
  readonly priced?: 'wholly' | 'partly' | 'not';
  readonly model?: string | null;
  readonly modelRequested?: string | null;
  readonly provider?: ProviderName;
  readonly keyId?: number;
  readonly client?: string | null;
  readonly outcome?: Outcome;
  readonly metadata?: readonly (readonly [string, string])[];
  readonly traceId?: string | null;
  readonly durationMs?: number;
  readonly firstTokenMs?: number | null;
  readonly status?: number | null;
}

/** The database does this by itself once a key is promoted; here it is the key `Feature`. */
function indexFeature(metadata: MadeCall['metadata'] = []): Record<string, string> {
  const values = [...metadata]
    .filter(([key]) => key.toLowerCase() === 'feature')
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, value]) => value);
  return values.length === 0 ? {} : { Feature: values.join(', ') };
}

function priceAs({ cost, priced = 'wholly' }: MadeCall): PriceCall {
  return (call) => ({
    ...priceByToken(call),
    totalCost: priced === 'wholly' ? BigInt(cost) * 1_000_000n : null,
    knownCost: priced === 'not' ? 0n : BigInt(cost) * 1_000_000n,
  });
}

export function makeItems(calls: readonly MadeCall[]): readonly BatchItem[] {
  return calls.flatMap((call): readonly BatchItem[] => {
    const { number, atMs, metadata = [], client = 'curl', keyId = 1, provider = 'openai' } = call;
    const { model = 'gpt-5', modelRequested = model, outcome = 'ok' } = call;
    const { traceId, durationMs, firstTokenMs, status } = call;
    const begin = callBegin(number, {
      requestedAtMs: atMs,
      metadata,
      client,
      keyId,
      provider,
      modelRequested,
      ...(traceId === undefined ? {} : { traceId }),
    });
    const closed = outcome === 'client_closed' ? { closedBefore: 'end' as const } : {};
    const end = callEnd(number, {
      model,
      modelRequested,
      outcome,
      ...closed,
      respondedAtMs: atMs + 1,
      ...(durationMs === undefined ? {} : { durationMs }),
      ...(firstTokenMs === undefined ? {} : { firstTokenMs }),
      ...(status === undefined ? {} : { status }),
    });
    const { items } = buildBatch([{ type: 'end', begin, end }], {
      process: 'p',
      priceCall: priceAs(call),
      nowMs: atMs,
    });
    return items.map((item) => {
      if (item.kind !== 'call') return item;
      const row = { ...item.row, indexed_metadata: indexFeature(metadata) };
      return { ...item, row, copyText: encodeCopyText([row]) };
    });
  });
}

/** Of a key whose calls are in `indexed_metadata` already. */
export async function promote(pool: pg.Pool, key: string): Promise<void> {
  await pool.query(
    `insert into metadata_keys (account_id, key_lower, display_key, state, promoted_at)
     values (1, lower($1), $1, 'promoted', now())`,
    [key],
  );
}

const GROUPS: Readonly<Record<string, string>> = {
  model: 'left(coalesce(model, model_requested), 200)',
  provider: 'provider',
  key: 'key_id::text',
  endpoint: 'endpoint',
  outcome: 'outcome',
  span_name: 'left(span_name, 200)',
  client: 'client',
  'metadata.feature': "left(metadata_value(raw_metadata, 'Feature'), 200)",
  'metadata.team': "left(metadata_value(raw_metadata, 'Team'), 200)",
};

const FILTERS = {
  'provider:eq:openai': "provider = 'openai'",
  'key_id:ne:1': 'key_id <> 1',
  'model:eq:gpt-5': "model = 'gpt-5'",
  'metadata.feature:in:search,chat': "metadata_value(raw_metadata, 'Feature') in ('search', 'chat')",
  'metadata.Feature:has': "metadata_value(raw_metadata, 'Feature') is not null",
  'metadata.Feature:nohas': "metadata_value(raw_metadata, 'Feature') is null",
} as const;

export interface RecordsQuestion {
  readonly by: string;
  readonly filter: keyof typeof FILTERS | null;
  readonly interval: CostInterval;
  readonly timeZone: string;
  readonly from: Date | null;
  readonly to: Date | null;
  readonly limit: number;
}

interface CallRow {
  readonly group: readonly (string | null)[];
  readonly bucket: Date | null;
  readonly outcome: string;
  readonly closed_before: string | null;
  readonly total_cost: string | null;
  readonly known_cost: string | null;
  readonly input_tokens: number | null;
  readonly cache_read_input_tokens: number | null;
  readonly cache_creation_input_tokens: number | null;
  readonly output_tokens: number | null;
  readonly reasoning_tokens: number | null;
}

function addUp(calls: readonly CallRow[]): CallSums {
  const sum = (pick: (call: CallRow) => number | null) => calls.reduce((total, call) => total + (pick(call) ?? 0), 0);
  const costs = calls.map((call) => parseUsd(call.total_cost ?? call.known_cost ?? '0'));
  return {
    calls: calls.length,
    errors: sum((call) => (call.outcome === 'ok' || call.outcome === 'client_closed' ? 0 : 1)),
    client_closed_calls: sum((call) => (call.closed_before === null ? 0 : 1)),
    unpriced_calls: sum((call) => (call.total_cost === null ? 1 : 0)),
    total_cost: formatUsd(costs.reduce((total, cost) => total + cost, 0n)),
    input_tokens: sum((call) => call.input_tokens),
    cache_read_input_tokens: sum((call) => call.cache_read_input_tokens),
    cache_creation_input_tokens: sum((call) => call.cache_creation_input_tokens),
    output_tokens: sum((call) => call.output_tokens),
    reasoning_tokens: sum((call) => call.reasoning_tokens),
  };
}

function bucketsOf(calls: readonly CallRow[]): readonly CostBucket[] | null {
  const byStart = Map.groupBy(calls, ({ bucket }) => bucket?.getTime() ?? null);
  if (byStart.has(null)) return null;
  return [...byStart]
    .map(([start, own]) => {
      const { total_cost, calls: count, unpriced_calls } = addUp(own);
      return { start: new Date(start ?? 0), total_cost, calls: count, unpriced_calls };
    })
    .sort((a, b) => a.start.getTime() - b.start.getTime());
}

function compareValues(a: string | null | undefined, b: string | null | undefined): number {
  if (a === b) return 0;
  if (a === null || a === undefined) return 1;
  if (b === null || b === undefined) return -1;
  return a < b ? -1 : 1;
}

/** The table that the product should answer. */
export async function sumRecords(pool: pg.Pool, question: RecordsQuestion): Promise<CostTable> {
  const { by, filter, interval, timeZone, from, to, limit } = question;
  const groups = by
    .toLowerCase()
    .split(',')
    .map((name) => GROUPS[name] ?? 'null');
  const bucket = interval === 'none' ? 'null::timestamptz' : `date_trunc('${interval}', requested_at, '${timeZone}')`;
  const { rows: calls } = await pool.query<CallRow>(
    `select json_build_array(${groups.join(', ')}) as "group", ${bucket} as bucket, outcome, closed_before,
      total_cost, known_cost,
      input_tokens, cache_read_input_tokens, cache_creation_input_tokens, output_tokens, reasoning_tokens
     from llm_requests
     where requested_at >= coalesce($1::timestamptz, '-infinity') and requested_at < coalesce($2::timestamptz, 'infinity')
       and ${filter === null ? 'true' : FILTERS[filter]}`,
    [from, to],
  );
  const sorted = [...Map.groupBy(calls, ({ group }) => JSON.stringify(group)).values()]
    .map((own) => ({ group: own[0]?.group ?? [], own, sums: addUp(own) }))
    .sort((a, b) => {
      const cost = parseUsd(b.sums.total_cost) - parseUsd(a.sums.total_cost);
      if (cost !== 0n) return cost > 0n ? 1 : -1;
      return (
        b.sums.calls - a.sums.calls || compareValues(a.group[0], b.group[0]) || compareValues(a.group[1], b.group[1])
      );
    });
  const isUnset = ({ group }: { readonly group: readonly unknown[] }) => group.every((value) => value === null);
  const named = sorted.filter((one) => !isUnset(one));
  const told = new Set([...named.slice(0, limit), ...sorted.filter(isUnset)]);
  const others = named.slice(limit).flatMap(({ own }) => own);
  return {
    totals: addUp(calls),
    rows: sorted
      .filter((one) => told.has(one))
      .map(({ group, own, sums }) => ({ group, ...sums, buckets: bucketsOf(own) })),
    rest: others.length === 0 ? null : { groups: named.length - limit, ...addUp(others), buckets: bucketsOf(others) },
  };
}
