/** All that the proxies need of keys, run tokens and limits, of one moment. */
import type pg from 'pg';
import type { KeyEntry } from '../../vocabulary/channel.ts';
import type { AccountLimit } from '../../vocabulary/limit.ts';
import { ALL_LIMITS, type StoredLimit, toAccountLimit } from './call-limits.ts';
import { listFirstKeys } from './key-rotations.ts';
import { KEY_COLUMNS, type KeyRow, toEntry } from './key-row.ts';
import { RUN_TOKEN_ENTRIES, type RunTokenEntryRow, toRunTokenEntry } from './run-tokens.ts';

export interface StoredSnapshot {
  readonly version: number;
  readonly keys: readonly KeyEntry[];
  readonly limits: readonly AccountLimit[];
}

/** All keys, run tokens and limits of all accounts and their version, in one snapshot. */
export async function readKeySnapshot(pool: pg.Pool): Promise<StoredSnapshot> {
  const { rows } = await pool.query<{
    version: number;
    keys: readonly KeyRow[] | null;
    tokens: readonly RunTokenEntryRow[] | null;
    limits: readonly StoredLimit[] | null;
  }>(
    `select version,
       (select json_agg(k) from (select ${KEY_COLUMNS} from gateway_keys order by gateway_keys.id) k) as keys,
       (select json_agg(t) from (${RUN_TOKEN_ENTRIES}) t) as tokens,
       (select json_agg(l) from (${ALL_LIMITS}) l) as limits
     from key_snapshot`,
  );
  const [row] = rows;
  if (row === undefined) throw new Error('the table key_snapshot is empty');
  const firstKeys = listFirstKeys(row.keys ?? []);
  const entries = [...(row.keys ?? []).map(toEntry), ...(row.tokens ?? []).map(toRunTokenEntry)];
  return {
    version: row.version,
    keys: entries.map((entry) => {
      const first = firstKeys.get(entry.keyId);
      return first === undefined ? entry : { ...entry, firstKeyId: first };
    }),
    limits: (row.limits ?? []).map(toAccountLimit),
  };
}
