/** The audit trail of prices: who changed what, and when. Rows are added in the transaction of the change, never changed. */
import type pg from 'pg';
import type { JsonValue } from '../token-usage.ts';

export const CHANGE_SUBJECTS = ['override', 'mapping', 'multiplier', 'catalog'] as const;
export const CHANGE_ACTIONS = ['added', 'replaced', 'removed', 'activated'] as const;

export interface NewPriceChange {
  readonly accountId: number;
  readonly actor: string;
  readonly subject: (typeof CHANGE_SUBJECTS)[number];
  readonly action: (typeof CHANGE_ACTIONS)[number];
  readonly summary: string;
  /** JSON; null when there was, or is, nothing. */
  readonly before: object | null;
  readonly after: object | null;
}

export interface PriceChange extends Omit<NewPriceChange, 'accountId' | 'before' | 'after'> {
  readonly id: number;
  readonly changedAt: Date;
  readonly before: JsonValue;
  readonly after: JsonValue;
}

interface ChangeRow extends Omit<PriceChange, 'changedAt'> {
  readonly changed_at: Date;
}

export async function insertPriceChange(client: pg.ClientBase, change: NewPriceChange): Promise<void> {
  const { accountId, actor, subject, action, summary, before, after } = change;
  await client.query(
    `insert into price_changes (account_id, actor, subject, action, summary, before, after)
     values ($1, $2, $3, $4, $5, $6, $7)`,
    [accountId, actor, subject, action, summary, before, after],
  );
}

/** The newest first; `beforeId` goes on where a page ended. */
export async function listPriceChanges(
  client: pg.ClientBase | pg.Pool,
  accountId: number,
  beforeId: number | null,
  limit: number,
): Promise<readonly PriceChange[]> {
  const { rows } = await client.query<ChangeRow>(
    `select id, changed_at, actor, subject, action, summary, before, after from price_changes
     where account_id = $1 and ($2::int8 is null or id < $2) order by id desc limit $3`,
    [accountId, beforeId, limit],
  );
  return rows.map(({ changed_at: changedAt, ...change }) => ({ ...change, changedAt }));
}
