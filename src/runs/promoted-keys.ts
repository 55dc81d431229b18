/**
 * Which metadata keys are promoted now, for questions about the log. To be read for each request: as long as a key is
 * promoted, and for `STRIP_DELAY_MS` after, `indexed_metadata` has it in every call.
 */
import type pg from 'pg';
import type { FilterField } from './log-filter.ts';

/** Key in lower case → the spelling under which it stands in `indexed_metadata`. */
export type PromotedKeys = ReadonlyMap<string, string>;

/**
 * A question that took a key for promoted must be over when the key begins to vanish from the calls: longer than any
 * statement of the API may last, and the wait for a connection before it.
 */
export const STRIP_DELAY_MS = 45_000;

export const NO_PROMOTED_KEYS: PromotedKeys = new Map();

export async function readPromotedKeys(client: pg.Pool | pg.ClientBase, accountId: number): Promise<PromotedKeys> {
  const { rows } = await client.query<{ key_lower: string; display_key: string }>(
    "select key_lower, display_key from metadata_keys where account_id = $1 and state = 'promoted'",
    [accountId],
  );
  return new Map(rows.map((row) => [row.key_lower, row.display_key]));
}

/** The same, without asking when none of the filters is about metadata. */
export async function readPromotedKeysFor(
  client: pg.Pool | pg.ClientBase,
  accountId: number,
  filters: readonly { readonly field: FilterField }[],
): Promise<PromotedKeys> {
  if (filters.every(({ field }) => field.type !== 'metadata')) return NO_PROMOTED_KEYS;
  return readPromotedKeys(client, accountId);
}
