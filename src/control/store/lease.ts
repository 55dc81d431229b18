/** Work that one node at a time does. A holder that does not renew in time has lost it, by the clock of the database. */
import type pg from 'pg';

/** Takes or renews it. False while another has it. */
export async function holdLease(pool: pg.Pool, name: string, holder: string, seconds: number): Promise<boolean> {
  const { rowCount } = await pool.query(
    `insert into leases (name, holder, until) values ($1, $2, clock_timestamp() + make_interval(secs => $3))
     on conflict (name) do update set holder = excluded.holder, until = excluded.until
     where leases.holder = excluded.holder or leases.until < clock_timestamp()`,
    [name, holder, seconds],
  );
  return rowCount === 1;
}

/** So that another need not wait for its end. */
export async function giveLeaseBack(pool: pg.Pool, name: string, holder: string): Promise<void> {
  await pool.query('delete from leases where name = $1 and holder = $2', [name, holder]);
}
