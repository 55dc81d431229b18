/**
 * What a re-pricing finds, by day and model: the sums of each chunk are added to `reprice_days`, in its transaction. A
 * dry run writes these and nothing else.
 */
import type pg from 'pg';
import { MAX_VALUE_CHARACTERS } from '../runs/run-aggregate.ts';
import { DAY_MS, dayOf } from '../store/partitions.ts';
import { formatUsd, type PicoUsd, parseUsd } from '../usd.ts';
import type { RepricedCall } from './reprice-call.ts';

export interface DaySums {
  /** UTC, as `2026-11-28`. */
  readonly day: string;
  readonly provider: string;
  /** Served, else requested; empty when neither is known. */
  readonly model: string;
  readonly calls: number;
  readonly changed: number;
  readonly oldCost: PicoUsd;
  readonly newCost: PicoUsd;
  readonly oldUnpriced: number;
  readonly newUnpriced: number;
}

type DayKey = Pick<DaySums, 'day' | 'provider' | 'model'>;

function modelOf({ row }: RepricedCall): string {
  const model = row.model ?? row.model_requested ?? '';
  return model.length <= MAX_VALUE_CHARACTERS ? model : [...model].slice(0, MAX_VALUE_CHARACTERS).join('');
}

function costsOf({ row, priced, isChanged }: RepricedCall) {
  const oldCost = parseUsd(row.total_cost ?? row.known_cost ?? '0');
  const isOldUnpriced = row.total_cost === null;
  return isChanged
    ? {
        oldCost,
        newCost: priced.totalCost ?? priced.knownCost,
        isOldUnpriced,
        isNewUnpriced: priced.totalCost === null,
      }
    : { oldCost, newCost: oldCost, isOldUnpriced, isNewUnpriced: isOldUnpriced };
}

export function sumByDay(calls: readonly RepricedCall[]): readonly DaySums[] {
  const sums = new Map<string, DaySums>();
  for (const call of calls) {
    const { provider } = call.row;
    const dayNumber = Math.floor(call.row.requested_at.getTime() / DAY_MS);
    const model = modelOf(call);
    const name = `${dayNumber} ${provider} ${model}`;
    const before = sums.get(name);
    const { oldCost, newCost, isOldUnpriced, isNewUnpriced } = costsOf(call);
    sums.set(name, {
      day: before?.day ?? dayOf(dayNumber * DAY_MS),
      provider,
      model,
      calls: (before?.calls ?? 0) + 1,
      changed: (before?.changed ?? 0) + (call.isChanged ? 1 : 0),
      oldCost: (before?.oldCost ?? 0n) + oldCost,
      newCost: (before?.newCost ?? 0n) + newCost,
      oldUnpriced: (before?.oldUnpriced ?? 0) + (isOldUnpriced ? 1 : 0),
      newUnpriced: (before?.newUnpriced ?? 0) + (isNewUnpriced ? 1 : 0),
    });
  }
  return [...sums.values()];
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
  if (days.length === 0) return;
  const rows = days.map((sums) => ({
    day: sums.day,
    provider: sums.provider,
    model: sums.model,
    calls: sums.calls,
    changed: sums.changed,
    old_cost: formatUsd(sums.oldCost),
    new_cost: formatUsd(sums.newCost),
    old_unpriced: sums.oldUnpriced,
    new_unpriced: sums.newUnpriced,
  }));
  await client.query(ADD_DAYS, [jobId, JSON.stringify(rows)]);
}

interface SumRow {
  readonly calls: number;
  readonly changed: number;
  readonly old_cost: string;
  readonly new_cost: string;
  readonly old_unpriced: number;
  readonly new_unpriced: number;
}

interface DayRow extends SumRow {
  readonly day: string;
  readonly provider: string;
  readonly model: string;
}

export type DayTotals = Omit<DaySums, keyof DayKey>;

function readSums(row: SumRow): DayTotals {
  return {
    calls: row.calls,
    changed: row.changed,
    oldCost: parseUsd(row.old_cost),
    newCost: parseUsd(row.new_cost),
    oldUnpriced: row.old_unpriced,
    newUnpriced: row.new_unpriced,
  };
}

const NO_CALLS: DayTotals = { calls: 0, changed: 0, oldCost: 0n, newCost: 0n, oldUnpriced: 0, newUnpriced: 0 };

export async function readDayTotals(client: pg.ClientBase | pg.Pool, jobId: number): Promise<DayTotals> {
  const sums = SUMMED.map((column) => {
    const type = column.endsWith('_cost') ? 'numeric' : 'int8';
    return `coalesce(sum(${column}), 0)::${type} as ${column}`;
  });
  const { rows } = await client.query<SumRow>(`select ${sums.join(', ')} from reprice_days where job_id = $1`, [jobId]);
  return rows[0] === undefined ? NO_CALLS : readSums(rows[0]);
}

/** In order of day, provider and model, after `after`. */
export async function listDays(
  pool: pg.Pool,
  jobId: number,
  after: DayKey | null,
  limit: number,
): Promise<readonly DaySums[]> {
  const { rows } = await pool.query<DayRow>(
    `select day::text, provider, model, ${SUMMED.join(', ')} from reprice_days
     where job_id = $1 and ($2::date is null or (day, provider, model) > ($2::date, $3::text, $4::text))
     order by day, provider, model limit $5`,
    [jobId, after?.day ?? null, after?.provider ?? '', after?.model ?? '', limit],
  );
  return rows.map(({ day, provider, model, ...sums }) => ({ day, provider, model, ...readSums(sums) }));
}
