/**
 * Writes the costs that a chunk found to be others: the calls, their revisions, and the roll-ups that hold costs, in
 * one transaction and from exactly the calls that were changed. It prices nothing.
 */
import type pg from 'pg';
import { insertCostHourly } from '../runs/cost-hourly.ts';
import { AGGREGATED_COLUMNS } from '../runs/run-aggregate.ts';
import { runUpsert } from '../runs/run-upsert.ts';
import { copyIn } from '../store/copy-in.ts';
import { escapeText, storableJson, storableText } from '../store/copy-text.ts';
import { formatUsd, type PicoUsd } from '../usd.ts';
import type { PricedRow, RepricedCall } from './reprice-call.ts';

/** A day of many runs takes retention its time. */
const LOG_LOCK_LIMIT_MS = 2_000;

const STAGE = 'repriced_calls';
/** The changed calls as roll-ups read them: each with its old cost to be taken back, and with its new one. */
const CHANGED = 'repriced_changes';

const NEW_COLUMNS = [
  'billing_model',
  'cost_status',
  'input_cost',
  'cache_read_cost',
  'cache_creation_cost',
  'output_cost',
  'other_cost',
  'total_cost',
  'known_cost',
  'price_version',
  'cost_lines',
] as const;
const OLD_COLUMNS = [
  'outcome',
  'priced_at',
  'cost_status',
  'billing_model',
  'price_version',
  'total_cost',
  'known_cost',
] as const;

const AGGREGATED = AGGREGATED_COLUMNS.join(', ');

const CREATE_TABLES = `
  create temp table if not exists ${STAGE} (id uuid, requested_at timestamptz(3),
    billing_model text, cost_status text, input_cost numeric(24,12), cache_read_cost numeric(24,12),
    cache_creation_cost numeric(24,12), output_cost numeric(24,12), other_cost numeric(24,12), total_cost numeric(24,12),
    known_cost numeric(24,12), price_version text, cost_lines jsonb,
    old_outcome text, old_priced_at timestamptz(3), old_cost_status text, old_billing_model text, old_price_version text,
    old_total_cost numeric(24,12), old_known_cost numeric(24,12)) on commit delete rows;
  create temp table if not exists ${CHANGED} (sign int4, account_id int4, trace_id text, key_id int4, provider text,
    model text, model_requested text, indexed_metadata jsonb, outcome text, closed_before text, total_cost numeric(24,12),
    known_cost numeric(24,12), input_tokens int8, cache_read_input_tokens int8, cache_creation_input_tokens int8,
    output_tokens int8, reasoning_tokens int8, requested_at timestamptz(3), responded_at timestamptz(3)) on commit delete rows`;

const COPY_STAGE = `copy ${STAGE} (id, requested_at, ${NEW_COLUMNS.join(', ')},
  ${OLD_COLUMNS.map((column) => `old_${column}`).join(', ')}) from stdin`;

function takenBack(column: string): string {
  return column === 'total_cost' || column === 'known_cost' ? `old_${column}` : column;
}

/**
 * A call that was replaced by its real ending, priced or removed since it was read is left alone: whoever did so used
 * the prices of now. $1 and $2: between which times the calls are; $3: the job; $4: its reason.
 */
const APPLY = `
  with repriced as (
    update llm_requests r set priced_at = now(), ${NEW_COLUMNS.map((column) => `${column} = s.${column}`).join(', ')}
    from ${STAGE} s join llm_requests o on o.id = s.id and o.requested_at = s.requested_at
      and o.requested_at between $1::timestamptz and $2::timestamptz
    where r.id = s.id and r.requested_at = s.requested_at and r.requested_at between $1::timestamptz and $2::timestamptz
      and r.outcome = s.old_outcome and r.priced_at is not distinct from s.old_priced_at
    returning r.id, r.billing_model, r.cost_status, r.price_version, o.cost_lines as old_cost_lines,
      ${AGGREGATED_COLUMNS.map((column) => `r.${column}`).join(', ')},
      ${OLD_COLUMNS.map((column) => `s.old_${column}`).join(', ')}
  ), revised as (
    insert into cost_revisions (request_id, job_id, account_id, requested_at, revised_at, reason,
      old_price_version, new_price_version, old_billing_model, new_billing_model, old_cost_status, new_cost_status,
      old_total_cost, new_total_cost, old_known_cost, new_known_cost, old_cost_lines)
    select id, $3::int8, account_id, requested_at, now(), $4::text,
      old_price_version, price_version, old_billing_model, billing_model, old_cost_status, cost_status,
      old_total_cost, total_cost, old_known_cost, known_cost, old_cost_lines
    from repriced
  )
  insert into ${CHANGED} (sign, ${AGGREGATED})
  select -1, ${AGGREGATED_COLUMNS.map(takenBack).join(', ')} from repriced
  union all
  select 1, ${AGGREGATED} from repriced`;

const LEFT_ALONE = `
  select s.id from ${STAGE} s
  where not exists (select from cost_revisions v where v.request_id = s.id and v.job_id = $1)`;

function textField(text: string | null): string {
  return text === null ? '\\N' : escapeText(storableText(text));
}

function moneyField(pico: PicoUsd | null): string {
  return pico === null ? '\\N' : formatUsd(pico);
}

function encodeLine({ row, priced }: RepricedCall): string {
  const old: Pick<PricedRow, (typeof OLD_COLUMNS)[number]> = row;
  return [
    row.id,
    row.requested_at.toISOString(),
    textField(priced.billingModel),
    priced.costStatus,
    moneyField(priced.inputCost),
    moneyField(priced.cacheReadCost),
    moneyField(priced.cacheCreationCost),
    moneyField(priced.outputCost),
    moneyField(priced.otherCost),
    moneyField(priced.totalCost),
    moneyField(priced.knownCost),
    priced.priceVersion,
    escapeText(storableJson(priced.lines)),
    old.outcome,
    old.priced_at?.toISOString() ?? '\\N',
    old.cost_status,
    textField(old.billing_model),
    textField(old.price_version),
    old.total_cost ?? '\\N',
    old.known_cost ?? '\\N',
  ].join('\t');
}

/**
 * Nobody drops days of the log until the transaction ends: retention waits for a chunk, and never each for the other.
 * Rejects (55P03) when retention takes long: try again later.
 */
export async function lockLog(client: pg.ClientBase): Promise<void> {
  await client.query(`set local lock_timeout = ${LOG_LOCK_LIMIT_MS};
    lock table only llm_requests in row exclusive mode; set local lock_timeout = 0`);
}

/**
 * In the chunk's transaction, after `lockLog`. Returns the ids of the calls that were left alone, for whom nothing is
 * to be counted.
 */
export async function applyChanges(
  client: pg.ClientBase,
  job: { readonly id: number; readonly reason: string },
  changes: readonly RepricedCall[],
): Promise<ReadonlySet<string>> {
  if (changes.length === 0) return new Set();
  await client.query(CREATE_TABLES);
  await copyIn(client, COPY_STAGE, `${changes.map(encodeLine).join('\n')}\n`);
  // One look-up a call by the primary key: without the number of rows the planner reads whole days for each of them.
  // Two columns tell it; to look at all would take as long as the update.
  await client.query(`analyze ${STAGE} (id, requested_at)`);
  await client.query('set local enable_hashjoin = off; set local enable_mergejoin = off');
  const times = changes.map(({ row }) => row.requested_at.getTime());
  const { rowCount } = await client.query(APPLY, [
    new Date(times.reduce((a, b) => Math.min(a, b))),
    new Date(times.reduce((a, b) => Math.max(a, b))),
    job.id,
    job.reason,
  ]);
  // In the order in which a batch takes them (PostgreSQL runs its inserts from the last to the first): the other way
  // round, a batch and a chunk would wait for each other.
  await client.query(insertCostHourly(CHANGED));
  await client.query(runUpsert(CHANGED));
  if (rowCount === 2 * changes.length) return new Set();
  const { rows } = await client.query<{ id: string }>(LEFT_ALONE, [job.id]);
  return new Set(rows.map(({ id }) => id));
}
