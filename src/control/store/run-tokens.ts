/**
 * The queries about run tokens, of which only digests come here. Each change raises the version of the keys' snapshot, in
 * which they are; time alone changes nothing in it, so a row goes only with a later change.
 */
import type pg from 'pg';
import type { KeyEntry, RunContext } from '../../vocabulary/channel.ts';
import { noteChange } from '../audit/note-change.ts';
import { LIMIT_COLUMNS, type LimitColumns, toKeyLimit } from './call-limits.ts';
import { ALLOWANCE_COLUMNS, type AllowanceColumns, toAllowance } from './key-allowance.ts';
import { raiseKeyVersion } from './key-version.ts';
import { inTransaction } from './pool.ts';

/** All are in the memory of each proxy process. */
export const MAX_LIVE_RUN_TOKENS = 2_000;
const MAX_ENDED_RUN_TOKENS = 500;

export interface NewRunToken extends RunContext {
  readonly accountId: number;
  readonly keyId: number;
  /** SHA-256 of the token, hex. */
  readonly digest: string;
  readonly name: string | null;
  readonly ttlSeconds: number;
}

export interface StoredRunToken extends RunContext {
  readonly tokenId: number;
  readonly keyId: number;
  readonly name: string | null;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  readonly revokedAtMs: number | null;
}

export interface RunTokenStored {
  /** Of the snapshot. */
  readonly version: number;
  readonly token: StoredRunToken;
}

const msOf = (column: string) => `floor(extract(epoch from ${column}) * 1000)::int8`;

const CONTEXT_COLUMNS = `t.trace_id as "traceId", t.span_path as "spanPath", t.provider,
  t.provider_alias as "providerAlias", t.metadata`;

const TOKEN_COLUMNS = `t.id as "tokenId", t.key_id as "keyId", t.name, ${CONTEXT_COLUMNS},
  ${msOf('t.created_at')} as "createdAtMs", ${msOf('t.expires_at')} as "expiresAtMs",
  ${msOf('t.revoked_at')} as "revokedAtMs"`;

/** Rows of `RunTokenEntryRow`: a token ends with its key, and has its settings. */
export const RUN_TOKEN_ENTRIES = `select encode(t.digest, 'hex') as digest, k.id as "keyId", k.account_id as "accountId",
  coalesce(t.revoked_at, k.revoked_at) is not null as revoked,
  ${msOf('least(t.expires_at, k.expires_at)')} as "expiresAtMs",
  k.usage_policy as usage, k.bodies_policy as bodies, k.runs_from as "runsFrom",
  k.allow_run_budget as "allowRunBudget", k.owner, ${ALLOWANCE_COLUMNS}, ${LIMIT_COLUMNS}, ${CONTEXT_COLUMNS}
  from run_tokens t join gateway_keys k on k.id = t.key_id order by t.id`;

export type RunTokenEntryRow = Omit<
  KeyEntry,
  'run' | 'allow' | 'limit' | 'allowInAddress' | 'runsFrom' | 'allowRunBudget' | 'owner'
> &
  RunContext &
  AllowanceColumns &
  LimitColumns & {
    readonly runsFrom: readonly string[];
    readonly allowRunBudget: boolean;
    readonly owner: string | null;
  };

export function toRunTokenEntry(row: RunTokenEntryRow): KeyEntry {
  const { digest, keyId, accountId, revoked, expiresAtMs, usage, bodies, runsFrom } = row;
  const { traceId, spanPath, provider, providerAlias, metadata } = row;
  return {
    digest,
    keyId,
    accountId,
    revoked,
    expiresAtMs,
    usage,
    bodies,
    ...(runsFrom.length === 0 ? {} : { runsFrom }),
    ...(row.allowRunBudget ? { allowRunBudget: true } : {}),
    ...(row.owner === null ? {} : { owner: row.owner }),
    ...toAllowance(row),
    ...toKeyLimit(row),
    run: { traceId, spanPath, provider, providerAlias, metadata },
  };
}

const END = 'coalesce(revoked_at, expires_at)';

/** Returns `full` when there are too many live ones, `key_unusable` when the key is unknown or has ended. */
export function insertRunToken(pool: pg.Pool, token: NewRunToken): Promise<RunTokenStored | 'full' | 'key_unusable'> {
  return inTransaction(pool, async (client) => {
    const version = await raiseKeyVersion(client);
    await deleteEndedTokens(client, token.accountId);
    const { rows: counted } = await client.query<{ live: number }>(
      `select count(*)::int4 as live from run_tokens where account_id = $1 and ${END} > now()`,
      [token.accountId],
    );
    if ((counted[0]?.live ?? 0) >= MAX_LIVE_RUN_TOKENS) return 'full';
    const { rows } = await client.query<StoredRunToken>(
      `insert into run_tokens as t
         (account_id, key_id, digest, name, trace_id, span_path, provider, provider_alias, metadata, expires_at)
       select account_id, id, decode($3, 'hex'), $4, $5, $6, $7, $8, $9::jsonb, now() + make_interval(secs => $10)
       from gateway_keys
       where account_id = $1 and id = $2 and revoked_at is null and (expires_at is null or expires_at > now())
       returning ${TOKEN_COLUMNS}`,
      [
        token.accountId,
        token.keyId,
        token.digest,
        token.name,
        token.traceId,
        token.spanPath,
        token.provider,
        token.providerAlias,
        JSON.stringify(token.metadata),
        token.ttlSeconds,
      ],
    );
    const [row] = rows;
    if (row === undefined) return 'key_unusable';
    await noteToken(client, token.accountId, 'run_token.create', row);
    return { version, token: row };
  });
}

/** The metadata is the caller's own, like a prompt: its values stay out. */
function noteToken(
  client: pg.ClientBase,
  accountId: number,
  action: string,
  { metadata, ...token }: StoredRunToken,
): Promise<void> {
  const after = { ...token, metadata_keys: Object.keys(metadata) };
  return noteChange(client, { accountId, action, subject: { kind: 'run_token', id: token.tokenId }, after });
}

/** For a day, and up to a number, ended tokens are kept: who uses one is told that it has ended. */
async function deleteEndedTokens(client: pg.ClientBase, accountId: number): Promise<void> {
  await client.query(
    `delete from run_tokens where id in (
       select id from (
         select id, ${END} as ended_at, row_number() over (order by ${END} desc) as place
         from run_tokens where account_id = $1 and ${END} <= now()
       ) ended
       where ended_at < now() - interval '1 day' or place > $2
     )`,
    [accountId, MAX_ENDED_RUN_TOKENS],
  );
}

/** Ends a token; ending it again keeps the first time. Returns null for an unknown one. */
export function revokeRunToken(pool: pg.Pool, accountId: number, tokenId: number): Promise<RunTokenStored | null> {
  return inTransaction(pool, async (client) => {
    const version = await raiseKeyVersion(client);
    const { rows } = await client.query<StoredRunToken>(
      `update run_tokens t set revoked_at = coalesce(revoked_at, least(now(), expires_at))
       where account_id = $1 and id = $2
       returning ${TOKEN_COLUMNS}`,
      [accountId, tokenId],
    );
    const [row] = rows;
    if (row === undefined) return null;
    await noteToken(client, accountId, 'run_token.revoke', row);
    return { version, token: row };
  });
}

/**
 * Gives a token so many seconds from now, also one whose time is over: a laptop may have slept. Returns `ended` for one that
 * was ended, null for an unknown one. In all it has no more than `maxSeconds`.
 */
export function renewRunToken(
  pool: pg.Pool,
  accountId: number,
  tokenId: number,
  { ttlSeconds, maxSeconds }: { readonly ttlSeconds: number; readonly maxSeconds: number },
): Promise<RunTokenStored | 'ended' | null> {
  return inTransaction(pool, async (client) => {
    const version = await raiseKeyVersion(client);
    const { rows } = await client.query<StoredRunToken>(
      `update run_tokens t set expires_at = case when revoked_at is null
         then least(now() + make_interval(secs => $3), created_at + make_interval(secs => $4)) else expires_at end
       where account_id = $1 and id = $2
       returning ${TOKEN_COLUMNS}`,
      [accountId, tokenId, ttlSeconds, maxSeconds],
    );
    const [row] = rows;
    if (row === undefined) return null;
    return row.revokedAtMs === null ? { version, token: row } : 'ended';
  });
}

/** The newest first. */
export async function listRunTokens(pool: pg.Pool, accountId: number): Promise<readonly StoredRunToken[]> {
  const { rows } = await pool.query<StoredRunToken>(
    `select ${TOKEN_COLUMNS} from run_tokens t where account_id = $1 order by id desc`,
    [accountId],
  );
  return rows;
}

export async function readRunToken(pool: pg.Pool, accountId: number, tokenId: number): Promise<StoredRunToken | null> {
  const { rows } = await pool.query<StoredRunToken>(
    `select ${TOKEN_COLUMNS} from run_tokens t where account_id = $1 and id = $2`,
    [accountId, tokenId],
  );
  return rows[0] ?? null;
}
