/** People whom an identity provider vouches for: each sign-in brings their memberships up to date. */
import { isDeepStrictEqual } from 'node:util';
import type pg from 'pg';
import { readAuthor } from '../audit/author.ts';
import { noteChange } from '../audit/note-change.ts';
import type { KnownPerson, StoredRole } from './people.ts';
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
 * Returns the person. `no_account`: no grant is for an account that there is, and nobody has invited the person.
 * `email_taken`: another person has the address, and the provider does not say that it is this one's.
 *
 * A role from an invitation stays as it is, whatever the groups give: a group of everyone would take the last owner from an
 * account, and whoever left the group would lose their invitation as well.
 */
export function takeInIssued(pool: pg.Pool, person: IssuedPerson): Promise<KnownPerson | 'no_account' | 'email_taken'> {
  return inTransaction(pool, async (client) => {
    // Two sign-ins of a person at a time.
    await client.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`${person.issuer} ${person.subject}`]);
    const known = await client.query<StoredMembership>(
      `${MEMBERSHIPS} where (p.issuer = $1 and p.subject = $2) or lower(p.email) = lower($3) for update`,
      [person.issuer, person.subject, person.email],
    );
    const found = await findPerson(client, person);
    if (found === 'email_taken') return found;
    const { id } = found;
    const hasAccount = await takeInMemberships(client, id, person);
    const { rows } = await client.query<StoredMembership>(`${MEMBERSHIPS} where p.id = $1`, [id]);
    if (!hasAccount) await client.query('delete from people where id = $1', [id]);
    const before = known.rows.filter(({ personId }) => personId === id);
    await noteMemberships(client, before, rows);
    return hasAccount ? found : 'no_account';
  });
}

interface StoredMembership {
  readonly personId: number;
  readonly accountId: number;
  /** As the audit log has it. */
  readonly state: { readonly email: string };
}

const MEMBERSHIPS = `select p.id as "personId", m.account_id as "accountId", jsonb_build_object('email', p.email,
    'name', p.name, 'role', m.role, 'may_read_bodies', m.may_read_bodies, 'source', m.source,
    'is_issued', p.issuer is not null, 'has_password', p.password_hash is not null) as state
  from people p join memberships m on m.person_id = p.id`;

/** What a sign-in changes is a change by whoever signs in, under the address that is stored: a claimed one may be another's. */
async function noteMemberships(
  client: pg.ClientBase,
  before: readonly StoredMembership[],
  after: readonly StoredMembership[],
): Promise<void> {
  const [known] = [...after, ...before];
  if (known === undefined) return;
  const subject = { kind: 'person', id: known.personId };
  const author = { kind: 'person', name: known.state.email, from: readAuthor().from } as const;
  const stateIn = (all: readonly StoredMembership[], accountId: number) =>
    all.find((one) => one.accountId === accountId)?.state ?? null;
  const accountIds = new Set([...before, ...after].map(({ accountId }) => accountId));
  for (const accountId of [...accountIds].toSorted((a, b) => a - b)) {
    const [was, is] = [stateIn(before, accountId), stateIn(after, accountId)];
    if (isDeepStrictEqual(was, is)) continue;
    const action = was === null ? 'person.join' : is === null ? 'person.remove' : 'person.change';
    await noteChange(client, { accountId, action, subject, before: was, after: is, author });
  }
}

/** False for a person who is in no account then. */
async function takeInMemberships(client: pg.ClientBase, id: number, person: IssuedPerson): Promise<boolean> {
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
  if (granted !== 0) return true;
  const { rowCount } = await client.query('select from memberships where person_id = $1', [id]);
  return rowCount !== 0;
}

const KNOWN = 'id, session_key as "sessionKey"';

async function findPerson(client: pg.ClientBase, person: IssuedPerson): Promise<KnownPerson | 'email_taken'> {
  const { issuer, subject, email, name } = person;
  const known = await client.query<KnownPerson>(`select ${KNOWN} from people where issuer = $1 and subject = $2`, [
    issuer,
    subject,
  ]);
  const byEmail = await client.query<KnownPerson & { issuer: string | null }>(
    `select ${KNOWN}, issuer from people where lower(email) = lower($1) for update`,
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
    return own;
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
    return namesake;
  }
  const made = await client.query<KnownPerson>(
    `insert into people (email, name, issuer, subject) values ($1, $2, $3, $4) returning ${KNOWN}`,
    [email, name, issuer, subject],
  );
  const [row] = made.rows;
  if (row === undefined) throw new Error('the person was not stored');
  return row;
}
