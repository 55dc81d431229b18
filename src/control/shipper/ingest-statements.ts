/**
 * The statements of a batch, for PostgreSQL 15 to 18. One statement inserts rows and feeds all roll-ups with what was
 * inserted, so a repeated call counts once. Rows are locked in key order, so that shippers cannot block each other.
 */

import { FACET_SOURCE_COLUMNS } from '../log/call-facets.ts';
import { TOKEN_COLUMNS } from '../log/call-sums.ts';
import { insertCostDeltas } from '../log/cost-hourly.ts';
import { insertMetadataDeltas } from '../log/metadata-hourly.ts';
import { AGGREGATED_COLUMNS } from '../log/run-aggregate.ts';
import { runUpsert } from '../log/run-upsert.ts';
import { COPY_COLUMNS } from '../store/copy-text.ts';

export const CREATE_STAGING = `
  create temp table ingest_rows on commit delete rows as select ${COPY_COLUMNS} from llm_requests with no data;
  create temp table ingest_removed on commit delete rows as select ${COPY_COLUMNS} from llm_requests with no data;`;

export const COPY_ROWS = `copy ingest_rows (${COPY_COLUMNS}) from stdin`;

const SUMMED = ['raw_metadata', ...AGGREGATED_COLUMNS].join(', ');

/** Returns the inserted ids. Replaced interrupted rows are subtracted; late calls replace history. */
export const INSERT_ROWS = `
  with inserted as (
    insert into llm_requests (${COPY_COLUMNS}) select ${COPY_COLUMNS} from ingest_rows order by id
    on conflict do nothing returning id, ${SUMMED}
  ), changed as (
    select 1 as sign, ${SUMMED} from inserted
    union all
    select -1, ${SUMMED} from ingest_removed
  ), runs as (
    ${runUpsert('changed')}
  ), costs as (${insertCostDeltas('changed')}
  ), keys as (${insertMetadataDeltas('changed')})
  select id from inserted`;

/** Takes out interrupted rows whose real ending is in the batch; only the row count is used. */
export const TAKE_OUT_INTERRUPTED = `
  with removed as (
    delete from llm_requests r using ingest_rows s
    where r.id = s.id and r.requested_at = s.requested_at and r.outcome = 'interrupted' and s.outcome <> 'interrupted'
    returning ${COPY_COLUMNS.split(', ')
      .map((column) => `r.${column}`)
      .join(', ')}
  )
  insert into ingest_removed select * from removed`;

/** $1: ids of calls whose results may have been counted before. */
export const READ_STAGED = `
  select id, cost_status, total_cost, known_cost, ${TOKEN_COLUMNS.join(', ')} from ingest_rows where id = any($1::uuid[])`;

/** The replaced rows as the roll-up by one dimension reads them. */
export const REMOVED_CALLS = `(select -1 as sign, ${FACET_SOURCE_COLUMNS.join(', ')} from ingest_removed) removed`;

/** Former costs of replaced rows are no history of the new ones. */
export const DELETE_REVISIONS = `
  delete from cost_revisions v using ingest_removed r where v.request_id = r.id`;

export const DELETE_ENDED = 'delete from llm_open_calls o using ingest_rows r where o.id = r.id';

/** $1: the calls as JSON. A replayed beginning of a call with a row is left out. */
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

export const UPDATE_CHECKPOINTS = `
  update llm_open_calls o set checkpoint = x.checkpoint
  from jsonb_to_recordset($1::jsonb) as x (id uuid, checkpoint jsonb) where o.id = x.id`;

export const READ_OPEN_OF_PROCESS = `
  select begin, checkpoint from llm_open_calls where process = $1 order by id limit $2`;

/** $1: a process. Older releases wrote no ordinals. Calls that another node closed were open as well. */
export const READ_OPEN_ORDINALS = `
  select (begin->>'ordinal')::int8 as ordinal from llm_open_calls
  where process = $1 and jsonb_typeof(begin->'ordinal') = 'number'
  union
  select ordinal from llm_closed_calls where process = $1 and ordinal is not null`;

export const FORGET_CLOSED = 'delete from llm_closed_calls where process = $1';
