/** People whom an identity provider vouches for: each sign-in brings their memberships up to date. */
import type pg from 'pg';
import type { StoredRole } from './people.ts';
import { inTransaction } from './pool.ts';

export interface IssuedPerson {
  readonly issuer: string;
  readonly subject: string;
  readonly email: string;
  readonly isEmailVerified: boolean;
  readonly name: string;
  readonly grants: readonly {
    readonly accountId: number;
    readonly role: StoredRole;
    readonly mayReadBodies: boolean;
  }[];
}

/**
 * Returns the person's number. `no_account`: no grant is for an account that there is, and nobody has invited the person.
 * `email_taken`: another person has the address, and the provider does not say that it is this one's.
 *
 * A role from an invitation stays as it is, whatever the groups give: a group of everyone would take the last owner from an
 * account, and whoever left the group would lose their invitation as well.
 */
export function takeInIssued(pool: pg.Pool, person: IssuedPerson): Promise<number | 'no_account' | 'email_taken'> {
  return inTransaction(pool, async (client) => {
    // Two sign-ins of a person at a time.
    await client.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`${person.issuer} ${person.subject}`]);
    const id = await findPerson(client, person);
    if (id === 'email_taken') return id;
    const { rowCount: granted } = await client.query(
      `insert into memberships (account_id, person_id, role, may_read_bodies, source)
       select g.account_id, $1, g.role, g.may_read_bodies, 'groups'
       from unnest($2::int4[], $3::text[], $4::bool[]) as g (account_id, role, may_read_bodies)
         join accounts a on a.id = g.account_id
       on conflict (account_id, person_id) do update
         set role = excluded.role, may_read_bodies = excluded.may_read_bodies
         where memberships.source = excluded.source`,
      [
        id,
        person.grants.map(({ accountId }) => accountId),
        person.grants.map(({ role }) => role),
        person.grants.map(({ mayReadBodies }) => mayReadBodies),
      ],
    );
    await client.query(
      `delete from memberships where person_id = $1 and source = 'groups' and account_id <> all($2::int4[])`,
      [id, person.grants.map(({ accountId }) => accountId)],
    );
    if (granted === 0) {
      const { rowCount } = await client.query('select from memberships where person_id = $1', [id]);
      if (rowCount === 0) {
        await client.query('delete from people where id = $1', [id]);
        return 'no_account';
      }
    }
    return id;
  });
}

async function findPerson(client: pg.ClientBase, person: IssuedPerson): Promise<number | 'email_taken'> {
  const { issuer, subject, email, name } = person;
  const known = await client.query<{ id: number }>('select id from people where issuer = $1 and subject = $2', [
    issuer,
    subject,
  ]);
  const byEmail = await client.query<{ id: number; issuer: string | null }>(
    'select id, issuer from people where lower(email) = lower($1) for update',
    [email],
  );
  const [own] = known.rows;
  const [namesake] = byEmail.rows;
  if (own !== undefined) {
    const isFree = namesake === undefined || namesake.id === own.id;
    await client.query('update people set name = $2, email = coalesce($3, email) where id = $1', [
      own.id,
      name,
      isFree ? email : null,
    ]);
    return own.id;
  }
  if (namesake !== undefined) {
    if (namesake.issuer !== null || !person.isEmailVerified) return 'email_taken';
    // Whoever had a link or password of this address so far is not thereby the person whom the provider knows.
    await client.query(
      `update people set issuer = $2, subject = $3, name = $4, password_hash = null, sessions_from = clock_timestamp()
       where id = $1`,
      [namesake.id, issuer, subject, name],
    );
    await client.query('delete from person_links where person_id = $1', [namesake.id]);
    return namesake.id;
  }
  const made = await client.query<{ id: number }>(
    'insert into people (email, name, issuer, subject) values ($1, $2, $3, $4) returning id',
    [email, name, issuer, subject],
  );
  const [row] = made.rows;
  if (row === undefined) throw new Error('the person was not stored');
  return row.id;
}
