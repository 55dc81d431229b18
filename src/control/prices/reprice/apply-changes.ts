/** Writes a chunk's changed costs: calls, revisions and roll-ups, in one transaction and from the same calls. */
import type pg from 'pg';
import { formatUsd, type PicoUsd } from '../../../vocabulary/usd.ts';
import { FACET_SOURCE_COLUMNS } from '../../log/call-facets.ts';
import { insertCostDeltas } from '../../log/cost-hourly.ts';
import { addCallsToFacets, type SignedCall } from '../../log/facet-deltas.ts';
import { runUpsert } from '../../log/run-upsert.ts';
import { copyIn } from '../../store/copy-in.ts';
import { escapeText, storableJson, storableText } from '../../store/copy-text.ts';
import { PRICED_COLUMNS, type PricedRow, type RepricedCall } from './reprice-call.ts';

const STAGE = 'repriced_calls';
/** The changed calls as roll-ups read them: the old cost taken back, and the new one. */
const CHANGED = 'repriced_changes';

const NEW_COLUMNS = [...PRICED_COLUMNS, 'cost_lines'] as const;
const OLD_COLUMNS = [
  'outcome',
  'priced_at',
  'cost_status',
  'billing_model',
  'price_version',
  'total_cost',
  'known_cost',
] as const;

const SUMMED = FACET_SOURCE_COLUMNS.join(', ');

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
    output_tokens int8, reasoning_tokens int8, requested_at timestamptz(3), responded_at timestamptz(3), endpoint text,
    status int2, client text, raw_metadata jsonb, duration_ms int8, first_token_ms int4, cost_status text) on commit delete rows`;

const COPY_STAGE = `copy ${STAGE} (id, requested_at, ${NEW_COLUMNS.join(', ')},
  ${OLD_COLUMNS.map((column) => `old_${column}`).join(', ')}) from stdin`;

function takenBack(column: string): string {
  return ['total_cost', 'known_cost', 'cost_status'].includes(column) ? `old_${column}` : column;
}

/**
 * A call that was replaced, priced or removed since it was read is left alone: its writer used current prices. $1 and
 * $2: the calls' time range; $3: the job; $4: its reason.
 */
const APPLY = `
  with repriced as (
    update llm_requests r set priced_at = now(), ${NEW_COLUMNS.map((column) => `${column} = s.${column}`).join(', ')}
    from ${STAGE} s join llm_requests o on o.id = s.id and o.requested_at = s.requested_at
      and o.requested_at between $1::timestamptz and $2::timestamptz
    where r.id = s.id and r.requested_at = s.requested_at and r.requested_at between $1::timestamptz and $2::timestamptz
      and r.outcome = s.old_outcome and r.priced_at is not distinct from s.old_priced_at
    returning r.id, r.billing_model, r.price_version, o.cost_lines as old_cost_lines,
      ${FACET_SOURCE_COLUMNS.map((column) => `r.${column}`).join(', ')},
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
  insert into ${CHANGED} (sign, ${SUMMED})
  select -1, ${FACET_SOURCE_COLUMNS.map(takenBack).join(', ')} from repriced
  union all
  select 1, ${SUMMED} from repriced`;

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

/** Runs in the chunk's transaction after `lockLog`. Returns the ids of calls left alone, which are not counted. */
export async function applyChanges(
  client: pg.ClientBase,
  job: { readonly id: number; readonly reason: string },
  changes: readonly RepricedCall[],
): Promise<ReadonlySet<string>> {
  if (changes.length === 0) return new Set();
  await client.query(CREATE_TABLES);
  await copyIn(client, COPY_STAGE, `${changes.map(encodeLine).join('\n')}\n`);
  // One look-up a call by primary key: without row counts the planner reads whole days. Analysing these two columns
  // suffices; all of them would take as long as the update.
  await client.query(`analyze ${STAGE} (id, requested_at)`);
  await client.query('set local enable_hashjoin = off; set local enable_mergejoin = off');
  const times = changes.map(({ row }) => row.requested_at.getTime());
  const { rowCount } = await client.query(APPLY, [
    new Date(times.reduce((a, b) => Math.min(a, b))),
    new Date(times.reduce((a, b) => Math.max(a, b))),
    job.id,
    job.reason,
  ]);
  // Inserts in a batch's order (PostgreSQL runs its inserts from last to first), which prevents a deadlock.
  await client.query(insertCostDeltas(CHANGED));
  const { rows: changed } = await client.query<SignedCall>(`select sign, ${SUMMED} from ${CHANGED}`);
  await addCallsToFacets(client, changed);
  await client.query(runUpsert(CHANGED));
  if (rowCount === 2 * changes.length) return new Set();
  const { rows } = await client.query<{ id: string }>(LEFT_ALONE, [job.id]);
  return new Set(rows.map(({ id }) => id));
}
