/**
 * What a chunk of promotion or demotion does besides the calls themselves: the roll-ups that are kept by promoted key
 * follow in the same transaction, from exactly the calls that were changed.
 */
import type pg from 'pg';
import { addCostHourly, metadataFacet } from '../runs/cost-hourly.ts';
import { facetUpsert } from '../runs/facet-upsert.ts';
import { AGGREGATED_COLUMNS, facetAggregate, MAX_VALUE_CHARACTERS } from '../runs/run-aggregate.ts';

const AGGREGATED = AGGREGATED_COLUMNS.join(', ');

/**
 * The calls that the chunk changed, with the columns that roll-ups are made of: `sign` is 1 when they got the key, -1
 * when they lost it, and `indexed_metadata` has only that key.
 */
const CHANGED_CALLS = 'metadata_changed_calls';

export const CREATE_CHANGED_CALLS = `
  create temp table if not exists ${CHANGED_CALLS} on commit delete rows as
    select 1 as sign, ${AGGREGATED} from llm_requests with no data`;

/** What an update of the calls `r` is to return; `key` and `value` are SQL. */
export function changedColumns(key: string, value: string): string {
  return AGGREGATED_COLUMNS.map((column) =>
    column === 'indexed_metadata' ? `jsonb_build_object(${key}, ${value}) as indexed_metadata` : `r.${column}`,
  ).join(', ');
}

/** `changed`: a query with `changedColumns`. */
export function insertChanged(sign: 1 | -1, changed: string): string {
  return `insert into ${CHANGED_CALLS} (sign, ${AGGREGATED}) select ${sign}, ${AGGREGATED} from ${changed}`;
}

/** Only the facet of the key itself: the others stay as they are. */
const CHANGED_FACETS = `select * from (${facetAggregate(CHANGED_CALLS)}) f where f.facet = 'metadata.' || $1::text`;

/**
 * What is left of the facets that lost calls. No new call has the key meanwhile, so the latest activity is that of the
 * calls that still have it; the run's own times say in which days they can be.
 */
const LOWER_FACETS = `
  with lost (account_id, facet, value, trace_id, calls, last_activity_at) as materialized (${CHANGED_FACETS}),
  gone as (
    delete from llm_run_facets f using lost l
    where (f.account_id, f.facet, f.value, f.trace_id) = (l.account_id, l.facet, l.value, l.trace_id)
      and f.calls + l.calls <= 0
  )
  update llm_run_facets f set calls = f.calls + l.calls, last_activity_at = coalesce(left_calls.at, f.last_activity_at)
  from lost l
    join llm_runs r on r.account_id = l.account_id and r.trace_id = l.trace_id
    cross join lateral (
      select max(coalesce(q.responded_at, q.requested_at)) as at from llm_requests q
      where q.account_id = l.account_id and q.trace_id = l.trace_id
        and q.requested_at between r.started_at and r.ended_at
        and left(q.indexed_metadata ->> $1::text, ${MAX_VALUE_CHARACTERS}) = l.value
    ) left_calls
  where (f.account_id, f.facet, f.value, f.trace_id) = (l.account_id, l.facet, l.value, l.trace_id)
    and f.calls + l.calls > 0`;

/** The roll-ups by promoted key follow the calls in `CHANGED_CALLS`. */
export async function changeRollups(client: pg.ClientBase, displayKey: string, sign: 1 | -1): Promise<void> {
  // In the order in which a batch takes them (PostgreSQL runs its inserts from the last to the first): the other way
  // round, a batch and a chunk would wait for each other.
  await addCostHourly(client, CHANGED_CALLS, metadataFacet(displayKey));
  if (sign === 1) await client.query(facetUpsert(CHANGED_FACETS), [displayKey]);
  else await client.query(LOWER_FACETS, [displayKey]);
}
