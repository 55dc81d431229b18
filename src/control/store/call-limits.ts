/** The limits of accounts. Each change raises the version of the keys' snapshot, with which proxies are given them. */
import type pg from 'pg';
import type { KeyEntry } from '../../vocabulary/channel.ts';
import { readErrorCode } from '../../vocabulary/errors.ts';
import type { AccountLimit, Limit } from '../../vocabulary/limit.ts';
import { namesOf } from '../../vocabulary/record-of.ts';
import { noteChange } from '../audit/note-change.ts';
import { raiseKeyVersion } from './key-version.ts';
import { inTransaction } from './pool.ts';

/** Every proxy compares each call of the account with them. */
export const MAX_LIMITS = 200;
const UNIQUE_VIOLATION = '23505';

/** Of keys and of `call_limits`; null is without that limit. */
export interface LimitColumns {
  readonly maxConcurrent: number | null;
  readonly requestsPerMinute: number | null;
  readonly tokensPerMinute: number | null;
}

export interface StoredLimit extends LimitColumns {
  readonly limitId: number;
  readonly accountId: number;
  readonly metadataKey: string | null;
  readonly metadataValue: string | null;
  readonly createdAtMs: number;
}

export type NewLimit = Omit<StoredLimit, 'limitId' | 'createdAtMs'>;

export interface LimitStored {
  /** Of the snapshot. */
  readonly version: number;
  readonly limit: StoredLimit;
}

export const LIMIT_FIELDS = {
  maxConcurrent: 'max_concurrent',
  requestsPerMinute: 'requests_per_minute',
  tokensPerMinute: 'tokens_per_minute',
} as const;

/** Of the table of keys `k`. */
export const LIMIT_COLUMNS = namesOf(LIMIT_FIELDS)
  .map((field) => `k.${LIMIT_FIELDS[field]} as "${field}"`)
  .join(', ');

const COLUMNS = `id as "limitId", account_id as "accountId", metadata_key as "metadataKey",
  metadata_value as "metadataValue", max_concurrent as "maxConcurrent", requests_per_minute as "requestsPerMinute",
  tokens_per_minute as "tokensPerMinute", floor(extract(epoch from created_at) * 1000)::int8 as "createdAtMs"`;

/** Rows of `StoredLimit`, for the snapshot. */
export const ALL_LIMITS = `select ${COLUMNS} from call_limits order by id`;

export function toLimit({ maxConcurrent, requestsPerMinute, tokensPerMinute }: LimitColumns): Limit {
  return {
    ...(maxConcurrent === null ? {} : { concurrent: maxConcurrent }),
    ...(requestsPerMinute === null ? {} : { requestsPerMinute }),
    ...(tokensPerMinute === null ? {} : { tokensPerMinute }),
  };
}

/** Empty for a key without limits of its own. */
export function toKeyLimit(key: LimitColumns): Pick<KeyEntry, 'limit'> {
  const limit = toLimit(key);
  return Object.keys(limit).length === 0 ? {} : { limit };
}

export function toAccountLimit(row: StoredLimit): AccountLimit {
  const { limitId, accountId, metadataKey, metadataValue } = row;
  return { limitId, accountId, metadataKey, metadataValue, ...toLimit(row) };
}

export async function listLimits(pool: pg.Pool, accountId: number): Promise<readonly StoredLimit[]> {
  const { rows } = await pool.query<StoredLimit>(
    `select ${COLUMNS} from call_limits where account_id = $1 order by id`,
    [accountId],
  );
  return rows;
}

/** `taken`: there is one for the same calls. */
export async function insertLimit(pool: pg.Pool, limit: NewLimit): Promise<LimitStored | 'full' | 'taken'> {
  try {
    return await inTransaction(pool, async (client) => {
      const version = await raiseKeyVersion(client);
      const { rows } = await client.query<StoredLimit>(
        `insert into call_limits
           (account_id, metadata_key, metadata_value, max_concurrent, requests_per_minute, tokens_per_minute)
         select $1, $2, $3, $4, $5, $6
         where (select count(*) from call_limits where account_id = $1) < ${MAX_LIMITS}
         returning ${COLUMNS}`,
        [
          limit.accountId,
          limit.metadataKey,
          limit.metadataValue,
          limit.maxConcurrent,
          limit.requestsPerMinute,
          limit.tokensPerMinute,
        ],
      );
      const [row] = rows;
      if (row === undefined) return 'full';
      await note(client, 'limit.create', null, row);
      return { version, limit: row };
    });
  } catch (error) {
    if (readErrorCode(error) === UNIQUE_VIOLATION) return 'taken';
    throw error;
  }
}

/** What is undefined stays as it is. */
export type LimitChange = { readonly [Name in keyof LimitColumns]: LimitColumns[Name] | undefined };

/** Null for an unknown one; `none`: nothing would be limited any more, and nothing was changed. */
export function editLimit(
  pool: pg.Pool,
  accountId: number,
  limitId: number,
  change: LimitChange,
): Promise<LimitStored | 'none' | null> {
  return inTransaction(pool, async (client) => {
    // Changes wait here for each other, so nothing changes between what is read and what is written.
    const version = await raiseKeyVersion(client);
    const before = await readLimit(client, accountId, limitId);
    if (before === null) return null;
    const keep = <T>(wanted: T | undefined, present: T): T => (wanted === undefined ? present : wanted);
    const maxConcurrent = keep(change.maxConcurrent, before.maxConcurrent);
    const requestsPerMinute = keep(change.requestsPerMinute, before.requestsPerMinute);
    const tokensPerMinute = keep(change.tokensPerMinute, before.tokensPerMinute);
    if (maxConcurrent === null && requestsPerMinute === null && tokensPerMinute === null) return 'none';
    const { rows } = await client.query<StoredLimit>(
      `update call_limits set max_concurrent = $3, requests_per_minute = $4, tokens_per_minute = $5
       where account_id = $1 and id = $2
       returning ${COLUMNS}`,
      [accountId, limitId, maxConcurrent, requestsPerMinute, tokensPerMinute],
    );
    const [row] = rows;
    if (row === undefined) return null;
    await note(client, 'limit.edit', before, row);
    return { version, limit: row };
  });
}

export function deleteLimit(pool: pg.Pool, accountId: number, limitId: number): Promise<LimitStored | null> {
  return inTransaction(pool, async (client) => {
    const version = await raiseKeyVersion(client);
    const { rows } = await client.query<StoredLimit>(
      `delete from call_limits where account_id = $1 and id = $2 returning ${COLUMNS}`,
      [accountId, limitId],
    );
    const [row] = rows;
    if (row === undefined) return null;
    await note(client, 'limit.delete', row, null);
    return { version, limit: row };
  });
}

async function readLimit(client: pg.ClientBase, accountId: number, limitId: number): Promise<StoredLimit | null> {
  const { rows } = await client.query<StoredLimit>(
    `select ${COLUMNS} from call_limits where account_id = $1 and id = $2`,
    [accountId, limitId],
  );
  return rows[0] ?? null;
}

function note(
  client: pg.ClientBase,
  action: string,
  before: StoredLimit | null,
  after: StoredLimit | null,
): Promise<void> {
  const limit = after ?? before;
  if (limit === null) throw new Error('a change is about a limit');
  const { accountId, limitId } = limit;
  return noteChange(client, { accountId, action, subject: { kind: 'limit', id: limitId }, before, after });
}
