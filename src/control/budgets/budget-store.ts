/** The queries about budgets. Each change raises the version that every node watches. */
import type pg from 'pg';
import type { Budget } from '../../budgets/budget.ts';
import { formatUsd, parseUsd } from '../../vocabulary/usd.ts';
import { noteChange } from '../audit/note-change.ts';
import { inTransaction } from '../store/pool.ts';

export type NewBudget = Omit<Budget, 'id' | 'createdAtMs'>;

/** What can be changed: what the money is counted for stays, since what was spent would mean something else. */
export type BudgetEdit = {
  readonly [Field in 'name' | 'amount' | 'isHard' | 'reserves' | 'whenUnknown' | 'heldWhenUnknown' | 'contact']?:
    | Budget[Field]
    | undefined;
};

interface BudgetRow extends Omit<Budget, 'amount' | 'heldWhenUnknown' | 'createdAtMs'> {
  readonly amount: string;
  readonly heldWhenUnknown: string | null;
  readonly createdAt: Date;
}

const COLUMNS = `id, account_id as "accountId", name, scope, metadata_key as "metadataKey", value, amount, period,
  time_zone as "timeZone", is_hard as "isHard", reserves, when_unknown as "whenUnknown", held_when_unknown as "heldWhenUnknown",
  contact, created_at as "createdAt"`;

function toBudget({ createdAt, ...row }: BudgetRow): Budget {
  return {
    ...row,
    amount: parseUsd(row.amount),
    heldWhenUnknown: row.heldWhenUnknown === null ? null : parseUsd(row.heldWhenUnknown),
    createdAtMs: createdAt.getTime(),
  };
}

/** Without money as numbers that JSON has not. */
function stateOf(budget: Budget) {
  const held = budget.heldWhenUnknown;
  return { ...budget, amount: formatUsd(budget.amount), heldWhenUnknown: held === null ? null : formatUsd(held) };
}

async function note(client: pg.ClientBase, action: string, before: Budget | null, after: Budget): Promise<Budget> {
  const { accountId, id } = after;
  const change = { accountId, action, subject: { kind: 'budget', id }, after: stateOf(after) };
  await noteChange(client, before === null ? change : { ...change, before: stateOf(before) });
  return after;
}

const RAISE = 'update budget_version set version = version + 1';

export function insertBudget(pool: pg.Pool, budget: NewBudget): Promise<Budget> {
  return inTransaction(pool, async (client) => {
    await client.query(RAISE);
    const { rows } = await client.query<BudgetRow>(
      `insert into budgets (account_id, name, scope, metadata_key, value, amount, period, time_zone, is_hard,
         when_unknown, held_when_unknown, contact, reserves)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) returning ${COLUMNS}`,
      [
        budget.accountId,
        budget.name,
        budget.scope,
        budget.metadataKey,
        budget.value,
        formatUsd(budget.amount),
        budget.period,
        budget.timeZone,
        budget.isHard,
        budget.whenUnknown,
        budget.heldWhenUnknown === null ? null : formatUsd(budget.heldWhenUnknown),
        budget.contact,
        budget.reserves,
      ],
    );
    const [row] = rows;
    if (row === undefined) throw new Error('an inserted budget was not returned');
    return note(client, 'budget.create', null, toBudget(row));
  });
}

/** Null for one that is unknown or deleted. */
export function editBudget(pool: pg.Pool, accountId: number, id: number, edit: BudgetEdit): Promise<Budget | null> {
  return inTransaction(pool, async (client) => {
    await client.query(RAISE);
    const before = await findBudget(client, accountId, id);
    if (before === null) return null;
    const given = Object.fromEntries(Object.entries(edit).filter(([, value]) => value !== undefined));
    const after: Budget = { ...before, ...given };
    const { rows } = await client.query<BudgetRow>(
      `update budgets set name = $3, amount = $4, is_hard = $5, when_unknown = $6, held_when_unknown = $7, contact = $8,
         reserves = $9
       where account_id = $1 and id = $2 returning ${COLUMNS}`,
      [
        accountId,
        id,
        after.name,
        formatUsd(after.amount),
        after.isHard,
        after.whenUnknown,
        after.whenUnknown !== 'hold' || after.heldWhenUnknown === null ? null : formatUsd(after.heldWhenUnknown),
        after.contact,
        after.reserves,
      ],
    );
    return rows[0] === undefined ? null : note(client, 'budget.change', before, toBudget(rows[0]));
  });
}

/** False for one that is unknown or deleted before. */
export function deleteBudget(pool: pg.Pool, accountId: number, id: number): Promise<boolean> {
  return inTransaction(pool, async (client) => {
    await client.query(RAISE);
    const before = await findBudget(client, accountId, id);
    if (before === null) return false;
    await client.query(
      'update budgets set deleted_at = now() where account_id = $1 and id = $2 and deleted_at is null',
      [accountId, id],
    );
    const change = { accountId, action: 'budget.delete', subject: { kind: 'budget', id }, before: stateOf(before) };
    await noteChange(client, change);
    return true;
  });
}

export async function findBudget(
  client: pg.ClientBase | pg.Pool,
  accountId: number,
  id: number,
): Promise<Budget | null> {
  const { rows } = await client.query<BudgetRow>(
    `select ${COLUMNS} from budgets where account_id = $1 and id = $2 and deleted_at is null`,
    [accountId, id],
  );
  return rows[0] === undefined ? null : toBudget(rows[0]);
}

/** Those in force, the oldest first. */
export async function listBudgets(pool: pg.Pool, accountId: number): Promise<readonly Budget[]> {
  const { rows } = await pool.query<BudgetRow>(
    `select ${COLUMNS} from budgets where account_id = $1 and deleted_at is null order by id`,
    [accountId],
  );
  return rows.map(toBudget);
}

/** Those of all accounts. */
export async function readAllBudgets(pool: pg.Pool | pg.ClientBase): Promise<readonly Budget[]> {
  const { rows } = await pool.query<BudgetRow>(
    `select ${COLUMNS} from budgets where deleted_at is null order by account_id, id`,
  );
  return rows.map(toBudget);
}
