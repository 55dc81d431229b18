/** What a node looks at four times a second: one question, without a lock, whose answer mostly is that of before. */
import type pg from 'pg';
import { SHARED_SETTINGS } from '../store/shared-settings.ts';

/**
 * Nodes that have stopped in order have stored all their calls, and of one that was forgotten the operator says that it
 * is gone. A node gives its first sign of life within seconds of joining. `b` is a row of `budget_nodes`, $1 the asking node.
 */
export const IS_GONE = `b.node <> $1 and not exists (select from nodes n where n.name = b.node and n.stopped_at is null)
  and (b.joined_at < now() - interval '1 minute' or exists (select from nodes n where n.name = b.node))`;

const TAKEOVER_HOURS = `coalesce((select value::int4 from deployment_settings where name = 'budget_takeover_hours'),
  ${SHARED_SETTINGS.budget_takeover_hours.usual})`;

/** A node that held all, and has been silent for so long that it spends nothing any more, should it be cut off and live. */
export const IS_LOST = `b.node <> $1 and b.state = 'sole' and exists (select from nodes n
  where n.stopped_at is null and (n.id = b.id or b.id is null and n.name = b.node)
    and n.seen_at < now() - make_interval(hours => ${TAKEOVER_HOURS}))`;

export interface BudgetLook {
  /** Another one after every change of a budget, and after a backup was restored, whose row may have the same number. */
  readonly version: string;
  /** Another one in each database, and after each restore. Empty where there is none. */
  readonly sumsId: string;
  /** How the nodes stand, as one text. */
  readonly nodes: string;
  readonly hasGone: boolean;
  readonly hasLost: boolean;
  /** How long others would still take this node to be there, if it said nothing more. Null before its first sign of life. */
  readonly aloneForMs: number | null;
}

export async function readLook(pool: pg.Pool, node: string, id: string): Promise<BudgetLook> {
  const { rows } = await pool.query<BudgetLook>({
    name: 'budget_look',
    text: `select coalesce((select version || ' ' || xmin from budget_version), '') as version,
        coalesce((select sums_id::text from budget_version), '') as "sumsId",
        coalesce(string_agg(concat_ws(' ', b.node, b.state, b.id), ', ' order by b.node), '') as nodes,
        coalesce(bool_or(${IS_GONE}), false) as "hasGone", coalesce(bool_or(${IS_LOST}), false) as "hasLost",
        (select 1000 * extract(epoch from n.seen_at + make_interval(hours => ${TAKEOVER_HOURS}) - now()) from nodes n
         where n.id = $2)::float8 as "aloneForMs"
      from budget_nodes b`,
    values: [node, id],
  });
  return rows[0] ?? { version: '', sumsId: '', nodes: '', hasGone: false, hasLost: false, aloneForMs: null };
}
