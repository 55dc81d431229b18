/**
 * The metadata keys that are promoted now. Read them for each request: a promoted key is in `indexed_metadata` of every
 * call until `STRIP_DELAY_MS` after its demotion.
 */
import type pg from 'pg';
import type { FilterField } from './log-filter.ts';

/** Maps the key in lower case to its spelling in `indexed_metadata`. */
export type PromotedKeys = ReadonlyMap<string, string>;

/** Exceeds any API statement and its wait, so questions about a promoted key end before calls lose it. */
export const STRIP_DELAY_MS = 45_000;

export const NO_PROMOTED_KEYS: PromotedKeys = new Map();

export async function readPromotedKeys(client: pg.Pool | pg.ClientBase, accountId: number): Promise<PromotedKeys> {
  const { rows } = await client.query<{ key_lower: string; display_key: string }>(
    "select key_lower, display_key from metadata_keys where account_id = $1 and state = 'promoted'",
    [accountId],
  );
  return new Map(rows.map((row) => [row.key_lower, row.display_key]));
}

/** Asks the database only when a filter is about metadata. */
export async function readPromotedKeysFor(
  client: pg.Pool | pg.ClientBase,
  accountId: number,
  filters: readonly { readonly field: FilterField }[],
): Promise<PromotedKeys> {
  if (filters.every(({ field }) => field.type !== 'metadata')) return NO_PROMOTED_KEYS;
  return readPromotedKeys(client, accountId);
}
