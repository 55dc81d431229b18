/** The queries about leases: what each node holds of a budget for one value in one period. Together never more than all of it. */
import type pg from 'pg';
import type { ScopeId } from '../../budgets/ledger.ts';
import type { HeldScope, Want } from '../../budgets/ledger-upkeep.ts';
import { formatUsd, type PicoUsd, parseUsd } from '../../vocabulary/usd.ts';
import { inTransaction } from '../store/pool.ts';

/** Of what is free a node takes at least this part, so that it does not have to ask for each call. */
const CHUNK_PARTS = 4n;

const IS_SCOPE = 'account_id = $1 and budget_id = $2 and value = $3 and period_start = $4';

function namesOf({ accountId, budgetId, value, periodStartMs }: ScopeId): [number, number, string, Date] {
  return [accountId, budgetId, value, new Date(periodStartMs)];
}

interface ScopeRow {
  readonly accountId: number;
  readonly budgetId: number;
  readonly value: string;
  readonly periodStart: Date;
  readonly held: string;
}

const SCOPE_COLUMNS = 'account_id as "accountId", budget_id as "budgetId", value, period_start as "periodStart"';

function toHeld({ periodStart, held, ...scope }: ScopeRow): HeldScope {
  return { ...scope, periodStartMs: periodStart.getTime(), held: parseUsd(held) };
}

/** A node that left may have spent more than its lease says: its last calls are stored late, and one that was alone had none. */
const TOTALS = `
  select coalesce(sum(greatest(l.held, s.spent)), 0) as total, coalesce(sum(l.held) filter (where node = $5), 0) as own
  from (select node, held from budget_leases where ${IS_SCOPE}) l
    full join (select node, spent from budget_spend where ${IS_SCOPE}) s using (node)`;

export interface Lease {
  /** What the node holds now. */
  readonly held: PicoUsd;
  /** Others hold what is missing; where a call waits for it they are asked to give back what they do not use. */
  readonly isShort: boolean;
}

/** Leases what is wanted, or all that is free. */
export function lease(pool: pg.Pool, node: string, want: Want): Promise<Lease> {
  return inTransaction(pool, async (client) => {
    await lockScope(client, want);
    const names = namesOf(want);
    const { rows } = await client.query<{ total: string; own: string }>(TOTALS, [...names, node]);
    const own = parseUsd(rows[0]?.own ?? '0');
    const free = want.limit - parseUsd(rows[0]?.total ?? '0');
    const missing = want.need - own;
    if (missing <= 0n) return { held: own, isShort: false };
    if (missing > free) {
      if (want.isUrgent)
        await client.query(`update budget_leases set wanted_at = now() where ${IS_SCOPE} and node <> $5 and held > 0`, [
          ...names,
          node,
        ]);
      if (free > 0n) await writeLease(client, node, { ...want, held: own + free });
      return { held: free > 0n ? own + free : own, isShort: true };
    }
    const chunk = free / CHUNK_PARTS;
    const held = own + (missing > chunk ? missing : chunk);
    await writeLease(client, node, { ...want, held });
    return { held, isShort: false };
  });
}

async function lockScope(client: pg.ClientBase, scope: ScopeId): Promise<void> {
  await client.query('select pg_advisory_xact_lock(hashtextextended($1, 58))', [JSON.stringify(namesOf(scope))]);
}

/** The node's own leases are its own to write; only taking more needs the lock. */
export async function writeLease(client: pg.ClientBase | pg.Pool, node: string, scope: HeldScope): Promise<void> {
  await client.query(
    `insert into budget_leases (account_id, budget_id, value, period_start, node, held) values ($1, $2, $3, $4, $5, $6)
     on conflict (account_id, budget_id, value, period_start, node)
       do update set held = excluded.held, wanted_at = null, updated_at = now()`,
    [...namesOf(scope), node, formatUsd(scope.held)],
  );
}

/** The node holds what it uses, and no more: what it leased before a restore was of other sums. Only where the name is its own. */
export function replaceLeases(
  pool: pg.Pool,
  { id, node }: { readonly id: string; readonly node: string },
  used: readonly HeldScope[],
): Promise<void> {
  return inTransaction(pool, async (client) => {
    const { rows } = await client.query<{ isSharing: boolean }>(
      `select state = 'sharing' as "isSharing" from budget_nodes where node = $1 and id = $2`,
      [node, id],
    );
    const [own] = rows;
    if (own === undefined) return;
    await client.query('delete from budget_leases where node = $1', [node]);
    if (own.isSharing) for (const scope of used) await writeLease(client, node, scope);
  });
}

/** What others ask this node to give back. */
export async function listWanted(pool: pg.Pool, node: string): Promise<readonly HeldScope[]> {
  const { rows } = await pool.query<ScopeRow>(
    `select ${SCOPE_COLUMNS}, held from budget_leases where node = $1 and wanted_at > now() - interval '5 seconds'`,
    [node],
  );
  return rows.map(toHeld);
}

/** Sums over all other nodes of what may still count, of the scopes that changed since then. */
export async function listHeldElsewhere(
  client: pg.ClientBase | pg.Pool,
  node: string,
  since: Date,
): Promise<readonly HeldScope[]> {
  const { rows } = await client.query<ScopeRow>(
    `with touched as (
       select account_id, budget_id, value, period_start from budget_leases where node <> $1 and updated_at >= $2
       union
       select account_id, budget_id, value, period_start from budget_spend where node <> $1 and updated_at >= $2
     ), held as (
       select node, account_id, budget_id, value, period_start, l.held
       from budget_leases l join touched using (account_id, budget_id, value, period_start) where node <> $1
     ), spent as (
       select node, account_id, budget_id, value, period_start, s.spent
       from budget_spend s join touched using (account_id, budget_id, value, period_start) where node <> $1
     )
     select ${SCOPE_COLUMNS}, sum(greatest(held, spent)) as held
     from held full join spent using (node, account_id, budget_id, value, period_start) group by 1, 2, 3, 4`,
    [node, since],
  );
  return rows.map(toHeld);
}

/** What these nodes held and did not spend, as far as their calls are stored, is free. */
export async function freeUnspent(client: pg.ClientBase, nodes: readonly string[]): Promise<void> {
  if (nodes.length === 0) return;
  await client.query(
    `update budget_leases l set held = least(l.held, coalesce(s.spent, 0)), wanted_at = null, updated_at = now()
     from budget_leases m left join budget_spend s
       using (account_id, budget_id, value, period_start, node)
     where m.node = any($1) and l.account_id = m.account_id and l.budget_id = m.budget_id and l.value = m.value
       and l.period_start = m.period_start and l.node = m.node`,
    [nodes],
  );
}

export async function listOwnLeases(pool: pg.Pool, node: string): Promise<readonly HeldScope[]> {
  const { rows } = await pool.query<ScopeRow>(`select ${SCOPE_COLUMNS}, held from budget_leases where node = $1`, [
    node,
  ]);
  return rows.map(toHeld);
}

export interface RenamedNode {
  readonly id: string;
  readonly name: string;
  readonly former: readonly string[];
}

/**
 * Puts what stands under a node's former names under its name, unless another node has such a name now. Again now and then:
 * calls of before may be stored later.
 */
export function takeOverNames(pool: pg.Pool, { id, name, former }: RenamedNode): Promise<void> {
  return inTransaction(pool, async (client) => {
    const { rows } = await client.query<{ node: string }>(
      'select node from budget_nodes where node = any($1) and id <> $2',
      [former, id],
    );
    const others = new Set(rows.map(({ node }) => node));
    await renameIn(
      client,
      former.filter((one) => !others.has(one)),
      name,
    );
  });
}

async function renameIn(client: pg.ClientBase, former: readonly string[], node: string): Promise<void> {
  await client.query('delete from budget_nodes where node = any($1)', [former]);
  await client.query(
    `with gone as (delete from budget_spend where node = any($1) returning *)
     insert into budget_spend as b (account_id, budget_id, value, period_start, node, spent, calls, run_limit, updated_at)
     select account_id, budget_id, value, period_start, $2, sum(spent), sum(calls), min(run_limit), max(updated_at)
     from gone group by 1, 2, 3, 4
     on conflict (account_id, budget_id, value, period_start, node) do update set spent = b.spent + excluded.spent,
       calls = b.calls + excluded.calls, run_limit = least(b.run_limit, excluded.run_limit),
       updated_at = greatest(b.updated_at, excluded.updated_at)`,
    [former, node],
  );
  await client.query(
    `with gone as (delete from budget_leases where node = any($1) returning *)
     insert into budget_leases as b (account_id, budget_id, value, period_start, node, held, updated_at)
     select account_id, budget_id, value, period_start, $2, max(held), max(updated_at)
     from gone group by 1, 2, 3, 4
     on conflict (account_id, budget_id, value, period_start, node) do nothing`,
    [former, node],
  );
}
