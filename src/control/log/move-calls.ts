/** Moves stored calls to other places: other steps of their run, another run, or none. Sums of calls stay as they are. */
import type pg from 'pg';
import { copyIn } from '../store/copy-in.ts';
import { escapeText, storableText } from '../store/copy-text.ts';
import type { LlmRequestRow } from '../store/log-columns.ts';
import { FACET_SOURCE_COLUMNS } from './call-facets.ts';
import { addSourceToFacets } from './facet-deltas.ts';
import { mendRunStatements } from './mend-runs.ts';
import { runUpsert } from './run-upsert.ts';
import { readSpanPath } from './span-path.ts';

/** What says where a call belongs; `span_key` follows from `span_path`. */
export type PlaceOfCall = Pick<
  LlmRequestRow,
  'trace_id' | 'trace_source' | 'span_path' | 'agent_session' | 'agent_path'
>;

export interface CallMove {
  readonly id: string;
  readonly requestedAt: Date;
  readonly from: PlaceOfCall;
  readonly to: PlaceOfCall;
}

const PLACE = ['trace_id', 'trace_source', 'span_path', 'agent_session', 'agent_path'] as const;

const STAGE = 'moved_calls';
/** The calls that changed their run, as roll-ups read them: taken from the old one, and added to the new one. */
const CHANGED = 'moved_changes';
/** Of the old runs. */
const LEFT = `(select * from ${CHANGED} where sign = -1)`;

const SUMMED = FACET_SOURCE_COLUMNS.join(', ');
const OTHERS = FACET_SOURCE_COLUMNS.filter((column) => column !== 'trace_id').join(', ');

const CREATE_TABLES = `
  create temp table if not exists ${STAGE} (id uuid, requested_at timestamptz(3), span_key text,
    ${PLACE.map((column) => `${column} text, old_${column} text`).join(', ')}) on commit delete rows;
  create temp table if not exists ${CHANGED} on commit delete rows as
    select 1 as sign, ${SUMMED} from llm_requests with no data`;

const COPY_STAGE = `copy ${STAGE} (id, requested_at, span_key, ${PLACE.map((column) => `${column}, old_${column}`).join(', ')})
  from stdin`;

/**
 * $1 and $2: the calls' time range. A call that was moved or removed since it was read is left alone. One that changes its
 * run is new to the index over trace ids, to the run's open page, and to a list of runs. To the live tail it is not, which
 * goes by `stored_xid`.
 */
const MOVE = `
  with moved as (
    update llm_requests r set span_key = s.span_key, ${PLACE.map((column) => `${column} = s.${column}`).join(', ')},
      ingest_xid = case when r.trace_id is distinct from s.trace_id then pg_current_xact_id() else r.ingest_xid end,
      stored_xid = case when r.trace_id is distinct from s.trace_id then coalesce(r.stored_xid, r.ingest_xid) else r.stored_xid end
    from ${STAGE} s
    where r.id = s.id and r.requested_at = s.requested_at and r.requested_at between $1::timestamptz and $2::timestamptz
      and ${PLACE.map((column) => `r.${column} is not distinct from s.old_${column}`).join(' and ')}
    returning s.old_trace_id, ${FACET_SOURCE_COLUMNS.map((column) => `r.${column}`).join(', ')}
  ), changed as (
    insert into ${CHANGED} (sign, trace_id, ${OTHERS})
    select side.sign, side.trace_id, ${OTHERS}
    from moved, lateral (values (-1, moved.old_trace_id), (1, moved.trace_id)) side (sign, trace_id)
    where moved.old_trace_id is distinct from moved.trace_id
  )
  select count(*)::int4 as moved from moved`;

function field(text: string | null): string {
  return text === null ? '\\N' : escapeText(storableText(text));
}

function encodeLine({ id, requestedAt, from, to }: CallMove): string {
  const key = to.span_path === null ? null : readSpanPath(to.span_path).key;
  const fields = PLACE.flatMap((column) => [field(to[column]), field(from[column])]);
  return `${[id, requestedAt.toISOString(), field(key), ...fields].join('\t')}\n`;
}

/** Runs in a transaction after `lockLog`. Returns how many calls were moved. */
export async function moveCalls(client: pg.ClientBase, moves: readonly CallMove[]): Promise<number> {
  if (moves.length === 0) return 0;
  await client.query(CREATE_TABLES);
  await copyIn(client, COPY_STAGE, moves.map(encodeLine).join(''));
  // One look-up a call by primary key: without row counts the planner reads whole days.
  await client.query(`analyze ${STAGE} (id, requested_at)`);
  await client.query('set local enable_hashjoin = off; set local enable_mergejoin = off');
  const times = moves.map(({ requestedAt }) => requestedAt.getTime());
  const { rows } = await client.query<{ moved: number }>(MOVE, [
    new Date(times.reduce((a, b) => Math.min(a, b))),
    new Date(times.reduce((a, b) => Math.max(a, b))),
  ]);
  await client.query('set local enable_hashjoin = on; set local enable_mergejoin = on');
  // In a batch's order, which prevents a deadlock.
  await addSourceToFacets(client, CHANGED);
  await client.query(runUpsert(CHANGED));
  for (const statement of mendRunStatements(`${LEFT} left_runs`)) await client.query(statement);
  return rows[0]?.moved ?? 0;
}
