/** Tells all nodes that the database's sums of budgets are others: each puts them in the place of its ledger's. */
import type pg from 'pg';

/** Leases of nodes that share stay until each node writes its own anew: it may spend of them before it knows. */
export async function renewSums(client: pg.ClientBase | pg.Pool): Promise<void> {
  await client.query('update budget_version set sums_id = gen_random_uuid()');
  await client.query(
    `delete from budget_leases l
     where not exists (select from budget_nodes b where b.node = l.node and b.state = 'sharing')`,
  );
}
