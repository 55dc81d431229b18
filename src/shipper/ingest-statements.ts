/**
 * The statements of one batch. The insert and all roll-ups are one statement: the roll-ups are fed by what was really
 * inserted, so a call that comes twice counts once. Rows are locked in the order of their keys, so that two shippers
 * cannot block each other. The same text on PostgreSQL 15 and 18.
 */
import { deleteEmptyCostHours, insertCostHourly } from '../runs/cost-hourly.ts';
import { facetUpsert } from '../runs/facet-upsert.ts';
import { metadataHourlyUpsert } from '../runs/metadata-hourly.ts';
import { AGGREGATED_COLUMNS, facetAggregate } from '../runs/run-aggregate.ts';
import { runUpsert } from '../runs/run-upsert.ts';
import { COPY_COLUMNS } from '../store/copy-text.ts';

/** Once per connection: where a batch's rows, and interrupted rows that are replaced, stand for one transaction. */
export const CREATE_STAGING = `
  create temp table ingest_rows on commit delete rows as select ${COPY_COLUMNS} from llm_requests with no data;
  create temp table ingest_removed on commit delete rows as select ${COPY_COLUMNS} from llm_requests with no data;`;

export const COPY_ROWS = `copy ingest_rows (${COPY_COLUMNS}) from stdin`;

const AGGREGATED = AGGREGATED_COLUMNS.join(', ');

/** The promoted keys of a call, as `metadata_keys` has them now; keys on their way there too. */
const INDEXED_METADATA = `coalesce((
  select jsonb_object_agg(k.display_key, m.value)
  from metadata_keys k cross join lateral (select metadata_value(s.raw_metadata, k.key_lower) as value offset 0) m
  where k.account_id = s.account_id and k.state in ('promoting', 'promoted') and m.value is not null
), '{}')`;

const STAGED_VALUES = COPY_COLUMNS.split(', ')
  .map((column) => (column === 'indexed_metadata' ? INDEXED_METADATA : `s.${column}`))
  .join(', ');

/**
 * Returns the ids that were inserted. Interrupted rows taken out before are subtracted in the same roll-up. A roll-up
 * that is history has no record behind it: a late call replaces what it shows.
 */
export const INSERT_ROWS = `
  with inserted as (
    insert into llm_requests (${COPY_COLUMNS}) select ${STAGED_VALUES} from ingest_rows s order by id
    on conflict do nothing returning id, raw_metadata, ${AGGREGATED}
  ), changed as (
    select 1 as sign, raw_metadata, ${AGGREGATED} from inserted
    union all
    select -1, raw_metadata, ${AGGREGATED} from ingest_removed
  ), runs as (
    ${runUpsert('changed')}
  ), facets as (
    ${facetUpsert(facetAggregate('changed'))}
  ), costs as (${insertCostHourly('changed')}
  ), ${metadataHourlyUpsert('changed')}
  select id from inserted`;

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

/**
 * After interrupted rows were replaced: values that no call of the run has any more, and keys that none of an hour has.
 */
export const DROP_EMPTY_ROLLUPS = `
  delete from llm_run_facets f using ingest_removed r
  where f.account_id = r.account_id and f.trace_id = r.trace_id and f.calls = 0;
  delete from llm_metadata_hourly m using ingest_removed r
  where m.account_id = r.account_id and m.hour = date_trunc('hour', r.requested_at, 'UTC') and m.calls = 0`;

/** Of the calls that were taken out: what they cost before is no history of what comes in their place. */
export const DELETE_REVISIONS = `
  delete from cost_revisions v using ingest_removed r where v.request_id = r.id`;

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

/**
 * $1: a process. Those of older releases have none. What another node has closed, when this one was taken for gone, was
 * open as well.
 */
export const READ_OPEN_ORDINALS = `
  select (begin->>'ordinal')::int8 as ordinal from llm_open_calls
  where process = $1 and jsonb_typeof(begin->'ordinal') = 'number'
  union
  select ordinal from llm_closed_calls where process = $1 and ordinal is not null`;

/** $1: a process that is accounted for. */
export const FORGET_CLOSED = 'delete from llm_closed_calls where process = $1';
