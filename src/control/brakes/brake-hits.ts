/** The queries about what brakes have hit: pauses, which proxies refuse calls by, and alarms. */
import type pg from 'pg';
import type { Pause } from '../../vocabulary/channel.ts';
import { noteChange } from '../audit/note-change.ts';
import { inTransaction } from '../store/pool.ts';

/** Of an account. Every proxy process holds those of all accounts. */
export const MAX_PAUSES = 500;
const MAX_PUBLISHED = 50_000;
const KEPT_DAYS = 400;

export type BrakeScope = Pause['scope'];

export interface NewHit {
  readonly accountId: number;
  readonly rule: string;
  readonly scope: BrakeScope;
  readonly value: string;
  readonly action: 'alarm' | 'pause';
  /** For people, and for the clients of refused calls. */
  readonly reason: string;
  readonly numbers: Readonly<Record<string, number | string>>;
  readonly callId: string | null;
  /** Null for rules. */
  readonly hitBy: string | null;
}

export interface StoredHit extends NewHit {
  readonly id: number;
  readonly hitAt: Date;
  readonly resumedAt: Date | null;
  readonly resumedBy: string | null;
}

export interface HitFilter {
  readonly scope?: BrakeScope | undefined;
  readonly value?: string | undefined;
  /** Only pauses that are in force. */
  readonly isPaused?: boolean | undefined;
  /** Only hits with a smaller number. */
  readonly before?: number | undefined;
  readonly limit: number;
}

const COLUMNS = `id, account_id as "accountId", rule, scope, value, action, reason, numbers, call_id as "callId",
  hit_at as "hitAt", hit_by as "hitBy", resumed_at as "resumedAt", resumed_by as "resumedBy"`;

/** Serialises changes of pauses, so that their number has a bound. */
const PAUSES_LOCK = 4_141_045;

/** `full`: there are as many pauses as proxies hold. A subject that is paused already keeps its first hit. */
export function insertHit(pool: pg.Pool, hit: NewHit): Promise<StoredHit | 'full' | 'paused'> {
  return inTransaction(pool, async (client) => {
    if (hit.action === 'pause') {
      await client.query('select pg_advisory_xact_lock($1)', [PAUSES_LOCK]);
      const { rows } = await client.query<{ count: number }>(
        "select count(*) as count from brake_hits where account_id = $1 and action = 'pause' and resumed_at is null",
        [hit.accountId],
      );
      if ((rows[0]?.count ?? 0) >= MAX_PAUSES) return 'full';
    }
    const { rows } = await client.query<StoredHit>(
      `insert into brake_hits (account_id, rule, scope, value, action, reason, numbers, call_id, hit_by)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
       on conflict (account_id, scope, value) where action = 'pause' and resumed_at is null do nothing
       returning ${COLUMNS}`,
      [
        hit.accountId,
        hit.rule,
        hit.scope,
        hit.value,
        hit.action,
        hit.reason,
        JSON.stringify(hit.numbers),
        hit.callId,
        hit.hitBy,
      ],
    );
    const [row] = rows;
    if (row === undefined) return 'paused';
    // What a rule does is no change by anybody.
    if (hit.hitBy !== null) await noteHit(client, 'brake.pause', null, row);
    return row;
  });
}

function noteHit(client: pg.ClientBase, action: string, before: object | null, hit: StoredHit): Promise<void> {
  const { accountId, id, scope, value, reason, resumedAt } = hit;
  return noteChange(client, {
    accountId,
    action,
    subject: { kind: 'brake_hit', id },
    before,
    after: { scope, value, reason, is_paused: resumedAt === null },
  });
}

/** The newest first. */
export async function listHits(pool: pg.Pool, accountId: number, filter: HitFilter): Promise<readonly StoredHit[]> {
  const { rows } = await pool.query<StoredHit>(
    `select ${COLUMNS} from brake_hits
     where account_id = $1 and ($2::text is null or scope = $2) and ($3::text is null or value = $3)
       and (not $4::bool or (action = 'pause' and resumed_at is null)) and ($5::int8 is null or id < $5)
     order by id desc limit $6`,
    [
      accountId,
      filter.scope ?? null,
      filter.value ?? null,
      filter.isPaused === true,
      filter.before ?? null,
      filter.limit,
    ],
  );
  return rows;
}

/** Null for an unknown one, and for an alarm. Resuming again changes nothing. */
export function resumeHit(pool: pg.Pool, accountId: number, id: number, resumedBy: string): Promise<StoredHit | null> {
  return inTransaction(pool, async (client) => {
    const { rows } = await client.query<StoredHit & { readonly wasPaused: boolean }>(
      `with old as (
         select id, resumed_at is null as was_paused from brake_hits
         where account_id = $1 and id = $2 and action = 'pause' for update
       )
       update brake_hits set resumed_at = coalesce(resumed_at, now()), resumed_by = coalesce(resumed_by, $3)
       where account_id = $1 and id in (select id from old)
       returning ${COLUMNS}, (select was_paused from old) as "wasPaused"`,
      [accountId, id, resumedBy],
    );
    const [row] = rows;
    if (row === undefined) return null;
    const { wasPaused, ...hit } = row;
    if (wasPaused) await noteHit(client, 'brake.resume', { is_paused: true }, hit);
    return hit;
  });
}

/** Halves of a rotation are one key, so a pause of one is of all that were before it and come after it. */
const LIST_PAUSES = `
  with recursive paused as (
    select account_id, scope, value, id, reason, hit_at from brake_hits
    where action = 'pause' and resumed_at is null order by account_id, id limit ${MAX_PUBLISHED}
  ), kin (id, account_id, key_id) as (
    select p.id, p.account_id, k.id from paused p join gateway_keys k on p.scope = 'key' and k.id::text = p.value
    where k.account_id = p.account_id
    union
    select kin.id, kin.account_id, case when k.id = kin.key_id then k.replaced_by else k.id end
    from kin join gateway_keys k on k.account_id = kin.account_id
      and (k.replaced_by = kin.key_id or (k.id = kin.key_id and k.replaced_by is not null))
  )
  select distinct on ("accountId", scope, value) p.account_id as "accountId", p.scope,
    coalesce(kin.key_id::text, p.value) as value, p.id as "hitId", p.reason,
    floor(extract(epoch from p.hit_at) * 1000)::int8 as "sinceMs"
  from paused p left join kin using (id) order by "accountId", scope, value, p.id`;

/** All that is paused in all accounts, in a fixed order. */
export async function listPauses(pool: pg.Pool): Promise<readonly Pause[]> {
  const { rows } = await pool.query<Pause>(LIST_PAUSES);
  return rows;
}

export async function forgetOldHits(pool: pg.Pool): Promise<void> {
  await pool.query(
    `delete from brake_hits where hit_at < now() - make_interval(days => $1)
       and (action = 'alarm' or resumed_at is not null)`,
    [KEPT_DAYS],
  );
}

export interface RecentHit {
  readonly accountId: number;
  readonly rule: string;
  readonly scope: BrakeScope;
  readonly value: string;
  readonly hitMs: number;
  readonly resumedMs: number | null;
}

/** Longer than rules are quiet after a hit. */
const RECENT_HOURS = 2;
/** A change that was committed late is seen twice rather than never. */
const OVERLAP_MS = 5_000;

/** Of all accounts: hits and resumptions since then, or of the last hours; and the moment of the question. */
export async function listRecentHits(
  pool: pg.Pool,
  sinceMs: number | null,
): Promise<{ readonly atMs: number; readonly hits: readonly RecentHit[] }> {
  const { rows } = await pool.query<{ atMs: number; hits: readonly RecentHit[] }>(
    `select floor(extract(epoch from now()) * 1000)::int8 as "atMs", coalesce((
       select json_agg(json_build_object('accountId', account_id, 'rule', rule, 'scope', scope, 'value', value,
         'hitMs', floor(extract(epoch from hit_at) * 1000)::int8,
         'resumedMs', floor(extract(epoch from resumed_at) * 1000)::int8) order by id)
       from brake_hits where greatest(hit_at, coalesce(resumed_at, hit_at))
         > coalesce(to_timestamp($1::float8 / 1000), now() - make_interval(hours => $2))
     ), '[]') as hits`,
    [sinceMs === null ? null : sinceMs - OVERLAP_MS, RECENT_HOURS],
  );
  return rows[0] ?? { atMs: 0, hits: [] };
}
