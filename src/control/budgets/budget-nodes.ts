/** The nodes that hold money of budgets: what each holds and does not use, and how the operator ends what a lost one holds. */
import type pg from 'pg';
import type { Budget } from '../../budgets/budget.ts';
import { periodAt } from '../../budgets/budget-period.ts';
import { formatUsd, type PicoUsd, parseUsd } from '../../vocabulary/usd.ts';
import { noteChange } from '../audit/note-change.ts';
import { SILENT_AFTER_MINUTES } from '../store/nodes.ts';
import { inTransaction } from '../store/pool.ts';
import { freeUnspent } from './leases.ts';

export interface HeldOfBudget {
  readonly accountId: number;
  readonly budgetId: number;
  readonly held: PicoUsd;
  /** Of it, what no stored call has spent. */
  readonly unused: PicoUsd;
}

export interface BudgetNode {
  readonly node: string;
  /** Null for one that does not take part any more. */
  readonly mode: 'sole' | 'joining' | 'sharing' | null;
  /** Since its last sign of life, by the database's clock; null where none is known. */
  readonly silentMs: number | null;
  readonly isLost: boolean;
  /** In the periods under way, the most unused first. */
  readonly holds: readonly HeldOfBudget[];
}

interface NodeRow extends Omit<BudgetNode, 'holds'> {
  readonly holds: readonly (Omit<HeldOfBudget, 'held' | 'unused'> & {
    readonly held: string;
    readonly unused: string;
  })[];
}

/** A node that has stopped keeps what it has spent, and holds nothing beyond it. */
const LIST = `
  with current as (
    select * from jsonb_to_recordset($1::jsonb) as x (account_id int4, budget_id int4, period_ms float8)
  ), held as (
    select l.node, l.account_id, l.budget_id, sum(l.held) as held,
      sum(greatest(l.held - coalesce(s.spent, 0), 0)) as unused
    from current c
      join budget_leases l on l.account_id = c.account_id and l.budget_id = c.budget_id
        and l.period_start = to_timestamp(c.period_ms / 1000)
      left join budget_spend s on s.account_id = l.account_id and s.budget_id = l.budget_id and s.value = l.value
        and s.period_start = l.period_start and s.node = l.node
    where l.held > 0 group by 1, 2, 3
  )
  select name as node, b.state as mode, 1000 * extract(epoch from clock_timestamp() - n.seen_at)::float8 as "silentMs",
    b.node is not null and n.stopped_at is null
      and coalesce(n.seen_at < clock_timestamp() - make_interval(mins => ${SILENT_AFTER_MINUTES}), true) as "isLost",
    coalesce((select jsonb_agg(jsonb_build_object('accountId', h.account_id, 'budgetId', h.budget_id, 'held', h.held::text,
        'unused', h.unused::text) order by h.unused desc)
      from held h where h.node = name), '[]') as holds
  from (select node as name from budget_nodes union select node from held where unused > 0) names
    left join budget_nodes b on b.node = name
    left join lateral (select seen_at, stopped_at from nodes where nodes.name = names.name order by seen_at desc limit 1) n on true
  order by name limit 500`;

/** `budgets`: those whose money is asked for. */
export async function listBudgetNodes(
  pool: pg.Pool,
  budgets: readonly Budget[],
  nowMs: number,
): Promise<readonly BudgetNode[]> {
  const current = budgets.map(({ accountId, id, period, timeZone }) => ({
    account_id: accountId,
    budget_id: id,
    period_ms: periodAt(period, timeZone, nowMs).startMs,
  }));
  const { rows } = await pool.query<NodeRow>(LIST, [JSON.stringify(current)]);
  return rows.map((row) => ({
    ...row,
    holds: row.holds.map(({ held, unused, ...of }) => ({
      ...of,
      held: parseUsd(held),
      unused: parseUsd(unused),
    })),
  }));
}

export type Release =
  | { readonly kind: 'released'; readonly amount: PicoUsd }
  | { readonly kind: 'lives' }
  | { readonly kind: 'holds nothing' };

/** What is not used of leases of all periods; a node that was alone has none, and is freed as well. */
const UNUSED = `
  select coalesce(sum(greatest(l.held - coalesce(s.spent, 0), 0)), 0) as amount,
    exists (select from budget_nodes where node = $1) as "takesPart",
    exists (select from nodes where name = $1 and stopped_at is null
      and seen_at > clock_timestamp() - make_interval(mins => ${SILENT_AFTER_MINUTES})) as lives
  from budget_leases l left join budget_spend s using (account_id, budget_id, value, period_start, node)
  where l.node = $1`;

/** From now on a lost node has spent what its stored calls have, and nothing else; `accountId` is the operator's for the audit log. */
export function releaseNode(pool: pg.Pool, accountId: number, node: string): Promise<Release> {
  return inTransaction(pool, async (client) => {
    await client.query("select pg_advisory_xact_lock(hashtext('budget_nodes'))");
    const { rows } = await client.query<{ amount: string; takesPart: boolean; lives: boolean }>(UNUSED, [node]);
    const [row] = rows;
    if (row === undefined) throw new Error('the sums of what a node holds were not returned');
    const amount = parseUsd(row.amount);
    if (row.lives) return { kind: 'lives' };
    if (!row.takesPart && amount === 0n) return { kind: 'holds nothing' };
    await client.query('delete from budget_nodes where node = $1', [node]);
    await freeUnspent(client, [node]);
    const after = { released_usd: formatUsd(amount) };
    await noteChange(client, { accountId, action: 'budget.release', subject: { kind: 'node', id: node }, after });
    return { kind: 'released', amount };
  });
}
