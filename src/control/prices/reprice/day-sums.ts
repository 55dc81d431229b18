/** Adds a re-pricing's sums to `reprice_days`, in each chunk's transaction. A dry run writes only these. */
import type pg from 'pg';
import { parseUsd } from '../../../vocabulary/usd.ts';
import { MAX_VALUE_CHARACTERS } from '../../log/run-aggregate.ts';
import { DAY_MS, dayOf } from '../../store/partitions.ts';
import { type CostSums, createCostSummer, type SummedCall } from '../declared/cost-sums.ts';
import type { RepricedCall } from './reprice-call.ts';

interface DayKey {
  /** UTC, as `2026-11-28`. */
  readonly day: string;
  readonly provider: string;
  /** Served, else requested; empty when unknown. */
  readonly model: string;
}

export type DaySums = CostSums & DayKey;

function modelOf({ row }: RepricedCall): string {
  const model = row.model ?? row.model_requested ?? '';
  return model.length <= MAX_VALUE_CHARACTERS ? model : [...model].slice(0, MAX_VALUE_CHARACTERS).join('');
}

/** An unchanged call keeps its cost, whatever the price book says. */
function toSummed({ row, priced, isChanged }: RepricedCall): SummedCall {
  const oldCost = parseUsd(row.total_cost ?? row.known_cost ?? '0');
  const wasUnpriced = row.total_cost === null;
  return {
    isChanged,
    oldCost,
    newCost: isChanged ? (priced.totalCost ?? priced.knownCost) : oldCost,
    wasUnpriced,
    isUnpriced: isChanged ? priced.totalCost === null : wasUnpriced,
  };
}

export function sumByDay(calls: readonly RepricedCall[]): readonly DaySums[] {
  const days = new Map<string, DayKey & { readonly sums: ReturnType<typeof createCostSummer> }>();
  for (const call of calls) {
    const { provider } = call.row;
    const dayNumber = Math.floor(call.row.requested_at.getTime() / DAY_MS);
    const model = modelOf(call);
    const name = `${dayNumber} ${provider} ${model}`;
    const own = days.get(name) ?? { day: dayOf(dayNumber * DAY_MS), provider, model, sums: createCostSummer() };
    days.set(name, own);
    own.sums.add(toSummed(call));
  }
  return [...days.values()].map(({ day, provider, model, sums }) => ({ day, provider, model, ...sums.read() }));
}

const SUMMED = ['calls', 'changed', 'old_cost', 'new_cost', 'old_unpriced', 'new_unpriced'] as const;

const ADD_DAYS = `
  insert into reprice_days as d (job_id, day, provider, model, ${SUMMED.join(', ')})
  select $1, day, provider, model, ${SUMMED.join(', ')}
  from jsonb_to_recordset($2::jsonb) as x (day date, provider text, model text, calls int8, changed int8,
    old_cost numeric, new_cost numeric, old_unpriced int8, new_unpriced int8)
  on conflict (job_id, day, provider, model) do update set
    ${SUMMED.map((column) => `${column} = d.${column} + excluded.${column}`).join(', ')}`;

export async function addDaySums(client: pg.ClientBase, jobId: number, days: readonly DaySums[]): Promise<void> {
  if (days.length > 0) await client.query(ADD_DAYS, [jobId, JSON.stringify(days)]);
}

/** Decimal text, as from `formatUsd`. */
function selectSums(toValue: (column: string) => string): string {
  return SUMMED.map((column) => {
    const value = toValue(column);
    return `${column.endsWith('_cost') ? `trim_scale(${value})::text` : `(${value})::int8`} as ${column}`;
  }).join(', ');
}

const READ_TOTALS = `select ${selectSums((column) => `coalesce(sum(${column}), 0)`)} from reprice_days where job_id = $1`;
const LIST_DAYS = `select day::text, provider, model, ${selectSums((column) => column)} from reprice_days
  where job_id = $1 and ($2::date is null or (day, provider, model) > ($2::date, $3::text, $4::text))
  order by day, provider, model limit $5`;

export async function readDayTotals(client: pg.ClientBase | pg.Pool, jobId: number): Promise<CostSums> {
  const { rows } = await client.query<CostSums>(READ_TOTALS, [jobId]);
  return rows[0] ?? createCostSummer().read();
}

/** By day, provider and model, after `after`. */
export async function listDays(
  pool: pg.Pool,
  jobId: number,
  after: DayKey | null,
  limit: number,
): Promise<readonly DaySums[]> {
  const position = [after?.day ?? null, after?.provider ?? '', after?.model ?? ''];
  const { rows } = await pool.query<DaySums>(LIST_DAYS, [jobId, ...position, limit]);
  return rows;
}
