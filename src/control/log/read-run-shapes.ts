/**
 * The inside of the runs of a list: the calls active in each part of a run's time, and its most expensive outermost
 * step. Runs beyond the bound are listed without.
 */
import type pg from 'pg';
import { formatUsd, parseUsd } from '../../vocabulary/usd.ts';
import type { RunRow } from './run-row.ts';
import { decodeSpanKey } from './span-path.ts';

export interface TopStep {
  readonly name: string;
  readonly total_cost: string;
  /** The share of the run's cost, 0 to 1, with four decimals. */
  readonly share: number;
}

export interface RunShape {
  readonly top_step: TopStep | null;
  readonly shape: number[];
  readonly shape_errors: number[];
}

export const NO_SHAPE: RunShape = { top_step: null, shape: [], shape_errors: [] };

const MAX_PARTS = 40;
/** The calls read for one page, in the order of its runs. */
const MAX_SHAPED_CALLS = 20_000;

const SHAPES = `
  select place, step, first_part, last_part, grouping(step) as is_part,
    count(*) as calls,
    bool_or(is_error) as has_error,
    sum(cost) as total_cost
  from unnest($2::text[], $3::timestamptz[], $4::timestamptz[], $5::int8[], $6::int8[])
      with ordinality as runs (trace_id, started_at, ended_at, parts, span_ms, place),
    lateral (
      select nullif(split_part(coalesce(q.span_key, ''), '/', 1), '') as step,
        coalesce(q.total_cost, q.known_cost, 0) as cost,
        q.outcome not in ('ok', 'client_closed') as is_error,
        least(parts - 1, (extract(epoch from q.requested_at - started_at) * 1000)::int8 * parts / span_ms) as first_part,
        least(parts - 1,
          (extract(epoch from coalesce(q.responded_at, q.requested_at) - started_at) * 1000)::int8 * parts / span_ms
        ) as last_part
      from llm_requests q
      where q.account_id = $1 and q.trace_id = runs.trace_id and q.requested_at between started_at and ended_at
    ) calls
  group by grouping sets ((place, step), (place, first_part, last_part))`;

interface ShapeRow {
  readonly place: number;
  readonly step: string | null;
  readonly first_part: number | null;
  readonly last_part: number | null;
  readonly is_part: number;
  readonly calls: number;
  readonly has_error: boolean;
  readonly total_cost: string;
}

function spanMsOf(run: RunRow): number {
  return Math.max(1, run.ended_at.getTime() - run.started_at.getTime());
}

function countParts(run: RunRow): number {
  return Math.min(MAX_PARTS, spanMsOf(run));
}

function findTopStep(run: RunRow, rows: readonly ShapeRow[]): TopStep | null {
  const whole = parseUsd(run.total_cost);
  const steps = rows
    .flatMap((row) =>
      row.is_part === 0 && row.step !== null ? [{ key: row.step, cost: parseUsd(row.total_cost) }] : [],
    )
    .sort((a, b) => (a.cost === b.cost ? (a.key < b.key ? -1 : 1) : a.cost > b.cost ? -1 : 1));
  const [top] = steps;
  if (top === undefined || top.cost <= 0n || whole <= 0n) return null;
  return {
    name: decodeSpanKey(top.key).join('/'),
    total_cost: formatUsd(top.cost),
    share: Number((top.cost * 10_000n) / whole) / 10_000,
  };
}

/** A call is active from the part it began in to the part it ended in; a failure marks the latter. */
function drawShape(run: RunRow, rows: readonly ShapeRow[]): Pick<RunShape, 'shape' | 'shape_errors'> {
  const shape = Array.from({ length: countParts(run) }, () => 0);
  const errors = shape.map(() => 0);
  for (const { is_part, first_part, last_part, calls, has_error } of rows) {
    if (is_part === 0 || first_part === null || last_part === null) continue;
    for (let part = first_part; part <= last_part; part += 1) shape[part] = (shape[part] ?? 0) + calls;
    if (has_error) errors[last_part] = 1;
  }
  return { shape, shape_errors: errors };
}

export async function readRunShapes(
  client: pg.Pool | pg.ClientBase,
  accountId: number,
  runs: readonly RunRow[],
): Promise<ReadonlyMap<string, RunShape>> {
  let calls = 0;
  const shaped = runs.filter((run) => {
    if (run.calls === 0 || calls + run.calls > MAX_SHAPED_CALLS) return false;
    calls += run.calls;
    return true;
  });
  if (shaped.length === 0) return new Map();
  const { rows } = await client.query<ShapeRow>(SHAPES, [
    accountId,
    shaped.map((run) => run.trace_id),
    shaped.map((run) => run.started_at),
    shaped.map((run) => run.ended_at),
    shaped.map(countParts),
    shaped.map(spanMsOf),
  ]);
  const byPlace = Map.groupBy(rows, (row) => row.place);
  return new Map(
    shaped.flatMap((run, index): [string, RunShape][] => {
      const found = byPlace.get(index + 1);
      // Retention may have dropped the calls.
      return found === undefined
        ? []
        : [[run.trace_id, { top_step: findTopStep(run, found), ...drawShape(run, found) }]];
    }),
  );
}
