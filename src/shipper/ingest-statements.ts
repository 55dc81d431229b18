/**
 * The statements of one batch. The insert and all roll-ups are one statement: the roll-ups are fed by what was really
 * inserted, so a call that comes twice counts once. Rows are locked in the order of their keys, so that two shippers
 * cannot block each other. The same text on PostgreSQL 15 and 18.
 */
import { COSTED_COLUMNS, deleteEmptyCostHours, insertCostHourly } from '../runs/cost-hourly.ts';
import { FACET_COLUMNS, facetAggregate, RUN_COLUMNS, runAggregate, SUMMED_COLUMNS } from '../runs/run-aggregate.ts';
import { COPY_COLUMNS } from '../store/copy-text.ts';

/** Once per connection: where a batch's rows, and interrupted rows that are replaced, stand for one transaction. */
export const CREATE_STAGING = `
  create temp table ingest_rows on commit delete rows as select ${COPY_COLUMNS} from llm_requests with no data;
  create temp table ingest_removed on commit delete rows as select ${COPY_COLUMNS} from llm_requests with no data;`;

export const COPY_ROWS = `copy ingest_rows (${COPY_COLUMNS}) from stdin`;

const AGGREGATED = COSTED_COLUMNS.join(', ');

/**
 * Returns the ids that were inserted. Interrupted rows taken out before are subtracted in the same roll-up. A roll-up
 * that is history has no record behind it: a late call replaces what it shows.
 */
export const INSERT_ROWS = `
  with inserted as (
    insert into llm_requests (${COPY_COLUMNS}) select ${COPY_COLUMNS} from ingest_rows order by id
    on conflict do nothing returning id, ${AGGREGATED}
  ), changed as (
    select 1 as sign, ${AGGREGATED} from inserted
    union all
    select -1, ${AGGREGATED} from ingest_removed
  ), runs as (
    insert into llm_runs as r (${RUN_COLUMNS}) ${runAggregate('changed')} order by account_id, trace_id
    on conflict (account_id, trace_id) do update set
      ${SUMMED_COLUMNS.map((column) => addUnlessHistory('r', column)).join(', ')},
      started_at = case when r.is_history then excluded.started_at else least(r.started_at, excluded.started_at) end,
      ended_at = case when r.is_history then excluded.ended_at else greatest(r.ended_at, excluded.ended_at) end,
      is_history = false
  ), facets as (
    insert into llm_run_facets as f (${FACET_COLUMNS}) ${facetAggregate('changed')}
    order by account_id, facet, value, trace_id
    on conflict (account_id, facet, value, trace_id) do update set ${addUnlessHistory('f', 'calls')},
      last_activity_at = case when f.is_history then excluded.last_activity_at
        else greatest(f.last_activity_at, excluded.last_activity_at) end,
      is_history = false
  ), costs as (${insertCostHourly('changed')}
  )
  select id from inserted`;

function addUnlessHistory(table: string, column: string): string {
  return `${column} = case when ${table}.is_history then 0 else ${table}.${column} end + excluded.${column}`;
}

/** After interrupted rows were replaced: groups that no call of the hour is in any more. */
export const DROP_EMPTY_COSTS = deleteEmptyCostHours('ingest_removed');

/** Takes out the interrupted rows whose real ending is in the batch. Returns nothing; the number of rows counts. */
export const TAKE_OUT_INTERRUPTED = `
  with removed as (
    delete from llm_requests r using ingest_rows s
    where r.id = s.id and r.requested_at = s.requested_at and r.outcome = 'interrupted' and s.outcome <> 'interrupted'
    returning ${COPY_COLUMNS.split(', ')
      .map((column) => `r.${column}`)
      .join(', ')}
  )
  insert into ingest_removed select * from removed`;

/** After interrupted rows were replaced: values that no call of the run has any more. */
export const DROP_EMPTY_FACETS = `
  delete from llm_run_facets f using ingest_removed r
  where f.account_id = r.account_id and f.trace_id = r.trace_id and f.calls = 0`;

export const DELETE_ENDED = 'delete from llm_open_calls o using ingest_rows r where o.id = r.id';

/** $1: the calls as JSON. A replayed beginning of a call that has its row stays out. */
export const INSERT_OPEN = `
  insert into llm_open_calls (id, requested_at, account_id, key_id, node, process, provider, endpoint, model_requested,
    trace_id, span_path, span_key, span_name, begin)
  select id, requested_at, account_id, key_id, node, process, provider, endpoint, model_requested,
    trace_id, span_path, span_key, span_name, begin
  from jsonb_to_recordset($1::jsonb) as x (id uuid, requested_at timestamptz, account_id int4, key_id int4, node text,
    process text, provider text, endpoint text, model_requested text, trace_id text, span_path text, span_key text,
    span_name text, begin jsonb)
  where not exists (select from llm_requests r where r.id = x.id and r.requested_at = x.requested_at)
  order by id
  on conflict (id) do update set process = excluded.process`;

/** $1: the readings as JSON. */
export const UPDATE_CHECKPOINTS = `
  update llm_open_calls o set checkpoint = x.checkpoint
  from jsonb_to_recordset($1::jsonb) as x (id uuid, checkpoint jsonb) where o.id = x.id`;

/** $1: a process; $2: how many. */
export const READ_OPEN_OF_PROCESS = `
  select begin, checkpoint from llm_open_calls where process = $1 order by id limit $2`;
