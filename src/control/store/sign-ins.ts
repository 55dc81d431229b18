/** The tables of ended sessions and login links, which hold on every node, by the database's clock. */
import type pg from 'pg';

export interface EndedSession {
  readonly digest: string;
  readonly expiresAtMs: number;
}

/** Sessions already noted or over change nothing. */
export async function storeEndedSessions(pool: pg.Pool, ended: readonly EndedSession[]): Promise<void> {
  await pool.query(
    `with gone as (delete from ended_sessions where expires_at < now())
     insert into ended_sessions (digest, expires_at)
     select digest, expires_at from unnest($1::text[], $2::timestamptz[]) as ended (digest, expires_at)
     where expires_at > now()
     on conflict do nothing`,
    [ended.map(({ digest }) => digest), ended.map(({ expiresAtMs }) => new Date(expiresAtMs))],
  );
}

/** Lists at most `limit` sessions, the latest ended first, without expired ones. */
export async function listEndedSessions(pool: pg.Pool, limit: number): Promise<readonly EndedSession[]> {
  const { rows } = await pool.query<{ digest: string; expires_at: Date }>(
    'select digest, expires_at from ended_sessions where expires_at > now() order by ended_at desc limit $1',
    [limit],
  );
  return rows.map(({ digest, expires_at }) => ({ digest, expiresAtMs: expires_at.getTime() }));
}

/** Returns when the code expires. Above `limit` codes, the first to expire are dropped. */
export async function storeLoginCode(
  pool: pg.Pool,
  code: { readonly digest: string; readonly lifetimeMs: number; readonly limit: number },
): Promise<number> {
  const { rows } = await pool.query<{ expires_at: Date }>(
    `with spare as (
       delete from login_codes where expires_at < now() or digest in (
         select digest from login_codes order by expires_at desc offset $3 - 1))
     insert into login_codes (digest, expires_at) values ($1, now() + $2 * interval '1 millisecond')
     returning expires_at`,
    [code.digest, code.lifetimeMs, code.limit],
  );
  const [row] = rows;
  if (row === undefined) throw new Error('the login code was not stored');
  return row.expires_at.getTime();
}

/** True once, for one caller on all nodes. */
export async function redeemLoginCode(pool: pg.Pool, digest: string): Promise<boolean> {
  const { rows } = await pool.query<{ isValid: boolean }>(
    'delete from login_codes where digest = $1 returning expires_at > now() as "isValid"',
    [digest],
  );
  return rows[0]?.isValid === true;
}
