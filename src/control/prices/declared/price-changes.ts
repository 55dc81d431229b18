/** The append-only audit trail of prices, written in the transaction of each change. */
import type pg from 'pg';
import type { JsonValue } from '../../../vocabulary/token-usage.ts';
import { noteChange } from '../../audit/note-change.ts';

export const CHANGE_SUBJECTS = ['override', 'mapping', 'multiplier', 'catalog'] as const;
export const CHANGE_ACTIONS = ['added', 'replaced', 'removed', 'activated'] as const;

export interface NewPriceChange {
  readonly accountId: number;
  readonly actor: string;
  readonly subject: (typeof CHANGE_SUBJECTS)[number];
  readonly action: (typeof CHANGE_ACTIONS)[number];
  readonly summary: string;
  /** JSON; null before creation and after removal. */
  readonly before: object | null;
  readonly after: object | null;
}

export interface PriceChange extends Omit<NewPriceChange, 'accountId' | 'before' | 'after'> {
  readonly id: number;
  readonly changed_at: string;
  readonly before: JsonValue;
  readonly after: JsonValue;
}

export async function insertPriceChange(client: pg.ClientBase, change: NewPriceChange): Promise<void> {
  const { accountId, actor, subject, action, summary, before, after } = change;
  await client.query(
    `insert into price_changes (account_id, actor, subject, action, summary, before, after)
     values ($1, $2, $3, $4, $5, $6, $7)`,
    [accountId, actor, subject, action, summary, before, after],
  );
  const audited = { accountId, action: `price.${action}`, before, after };
  await noteChange(client, { ...audited, subject: { kind: `price ${subject}`, id: summary } });
}

/** Newest first; `beforeId` continues where a page ended. */
export async function listPriceChanges(
  client: pg.ClientBase | pg.Pool,
  accountId: number,
  beforeId: number | null,
  limit: number,
): Promise<readonly PriceChange[]> {
  const { rows } = await client.query<PriceChange>(
    `select id, to_char(changed_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as changed_at, actor, subject, action, summary, before, after from price_changes
     where account_id = $1 and ($2::int8 is null or id < $2) order by id desc limit $3`,
    [accountId, beforeId, limit],
  );
  return rows;
}
