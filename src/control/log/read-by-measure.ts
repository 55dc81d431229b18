/** A page of the log in the order of a measure, when filters or a search may pass over calls. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { afterCondition, logOrder, measureOf, positionOf } from './log-order.ts';
import { logConditions } from './log-scope.ts';
import { askIndex, conditionsOf, type Found, findWindows, hasIndex, type OpenQuery } from './read-calls.ts';
import { allOf, type Condition, runSql, type SqlRow } from './run-sql.ts';
import { withinWindows } from './search-windows.ts';
import { limitsLeft, type WalkLimits, walkRows } from './walk-window.ts';

/** What is few enough is sorted; else the calls are read in their order, so many that the time is not exceeded. */
export async function readByMeasure(open: OpenQuery, limits: WalkLimits): Promise<Found> {
  const startedMs = limits.monotonicMs();
  const few = hasIndex(open) ? await readFew(open, limits) : null;
  return few === null ? readInOrder(open, limitsLeft(limits, startedMs)) : { rows: few, stopped: null };
}

/** With more calls than this that match, the order has the first ones soon. */
const MAX_SORTED = 5_000;

/** Null when there are too many. */
async function readFew(open: OpenQuery, limits: WalkLimits): Promise<readonly SqlRow[] | null> {
  const { client, query, promoted, search, after, columns, wanted } = open;
  const order = logOrder(query.sort);
  const conditions = logConditions(query, promoted);
  const offered = search === null ? null : await findWindows(search, query, limits);
  if (offered !== null && offered.since !== null) return null;
  return askIndex(client, limits, async () => {
    const matches = (where: readonly Condition[]): RawBuilder<unknown> =>
      sql`select id, requested_at, ${sql.ref(query.sort.replace('-', ''))} from llm_requests
        where ${allOf(where)} limit ${MAX_SORTED + 1}`;
    const found =
      offered === null
        ? matches(conditions)
        : sql`${withinWindows(offered.windows, (within) => matches([...conditions, within]))} limit ${MAX_SORTED + 1}`;
    const [row] = await runSql(
      client,
      sql`with few as materialized (${found}), page as materialized (
          select id, requested_at from few where ${after === null ? sql<SqlBool>`true` : afterCondition(query.sort, after)}
          order by ${order} limit ${wanted}
        ) select (select count(*) from few) as total, array(select id from page) as ids,
          array(select requested_at from page) as times`,
    );
    if (Number(row?.['total']) > MAX_SORTED) return null;
    return runSql(
      client,
      sql`select ${sql.join(columns)} from llm_requests
        where id = any(${row?.['ids']}::uuid[]) and requested_at = any(${row?.['times']}::timestamptz[]) order by ${order}`,
    );
  });
}

async function readInOrder(open: OpenQuery, limits: WalkLimits): Promise<Found> {
  const { client, query, promoted, columns, wanted } = open;
  const order = logOrder(query.sort);
  const conditions = allOf(logConditions(query, promoted));
  const rows: SqlRow[] = [];
  let position = open.after;
  const end = await walkRows(client, limits, async (count) => {
    const part = allOf(
      conditionsOf({ ...open, query: { ...query, filters: [], search: null }, after: position }, query),
    );
    const found = await runSql(
      client,
      sql`select ${sql.join(columns)} from (
          select * from llm_requests where ${part} order by ${order} limit ${count}
        ) llm_requests where ${conditions} order by ${order} limit ${wanted - rows.length}`,
    );
    const [last] = await runSql(
      client,
      sql`select id, requested_at, ${measureOf(query.sort)}::text as sort_value from llm_requests
        where ${part} order by ${order} limit 1 offset ${count - 1}`,
    );
    rows.push(...found);
    position = positionOf(last);
    if (rows.length >= wanted) return 'enough';
    return position === null ? 'whole' : 'more';
  });
  return { rows, stopped: end === 'time_spent' ? position : null };
}
