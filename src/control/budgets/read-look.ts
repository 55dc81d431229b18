/** What a node looks at four times a second: one question, without a lock, whose answer mostly is that of before. */
import type pg from 'pg';

/**
 * Nodes that have stopped in order have stored all their calls, and of one that was forgotten the operator says that it
 * is gone. A node gives its first sign of life within seconds of joining. `b` is a row of `budget_nodes`, $1 the asking node.
 */
export const IS_GONE = `b.node <> $1 and not exists (select from nodes n where n.name = b.node and n.stopped_at is null)
  and (b.joined_at < now() - interval '1 minute' or exists (select from nodes n where n.name = b.node))`;

export interface BudgetLook {
  /** Another one after every change of a budget, and after a backup was restored, whose row may have the same number. */
  readonly version: string;
  /** How the nodes stand, as one text. */
  readonly nodes: string;
  readonly hasGone: boolean;
}

export async function readLook(pool: pg.Pool, node: string): Promise<BudgetLook> {
  const { rows } = await pool.query<BudgetLook>({
    name: 'budget_look',
    text: `select coalesce((select version || ' ' || xmin from budget_version), '') as version,
        coalesce(string_agg(concat_ws(' ', b.node, b.state, b.id), ', ' order by b.node), '') as nodes,
        coalesce(bool_or(${IS_GONE}), false) as "hasGone"
      from budget_nodes b`,
    values: [node],
  });
  return rows[0] ?? { version: '', nodes: '', hasGone: false };
}
