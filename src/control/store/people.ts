/** The tables of people, their memberships and their one-time links. Only digests and hashes of secrets come here. */
import type pg from 'pg';
import { readAuthor } from '../audit/author.ts';
import { noteChange } from '../audit/note-change.ts';
import { FIRST_ACCOUNT_ID } from './accounts.ts';
import { inTransaction } from './pool.ts';

export type StoredRole = 'viewer' | 'member' | 'owner';

export interface Membership {
  readonly accountId: number;
  readonly accountName: string;
  readonly role: StoredRole;
  readonly mayReadBodies: boolean;
}

/** As a proof of who they are names them. A number alone is another's after a restore. */
export interface KnownPerson {
  readonly id: number;
  /** Their sessions name it too. */
  readonly sessionKey: string;
}

export interface SignedInPerson extends KnownPerson {
  readonly email: string;
  readonly name: string;
  readonly hasPassword: boolean;
  /** The identity provider that vouches for the person, if one does. */
  readonly issuer: string | null;
  /** Sessions that began earlier are over. */
  readonly sessionsFromMs: number;
  /** By account. */
  readonly memberships: readonly Membership[];
}

export interface Member {
  readonly id: number;
  readonly email: string;
  readonly name: string;
  readonly role: StoredRole;
  readonly mayReadBodies: boolean;
  readonly source: 'invited' | 'groups';
  readonly hasPassword: boolean;
  /** Whether an owner of this account may make a link for the person: nobody else vouches for them. */
  readonly isOnlyHere: boolean;
  readonly signedInAt: Date | null;
  readonly createdAt: Date;
}

const MEMBER = `p.id, p.email, p.name, m.role, m.may_read_bodies as "mayReadBodies", m.source,
  p.password_hash is not null as "hasPassword", p.issuer is null and not exists (
    select from memberships other where other.person_id = p.id and other.account_id <> m.account_id) as "isOnlyHere",
  p.signed_in_at as "signedInAt", m.created_at as "createdAt"`;

/** Null when there is no such person. */
export async function readPerson(pool: pg.Pool, id: number): Promise<SignedInPerson | null> {
  const { rows } = await pool.query<Omit<SignedInPerson, 'sessionsFromMs'> & { readonly sessionsFrom: Date }>(
    `select p.id, p.email, p.name, p.password_hash is not null as "hasPassword", p.issuer,
       p.session_key as "sessionKey", p.sessions_from as "sessionsFrom",
       coalesce((select jsonb_agg(jsonb_build_object('accountId', m.account_id, 'accountName', a.name, 'role', m.role,
         'mayReadBodies', m.may_read_bodies) order by m.account_id)
         from memberships m join accounts a on a.id = m.account_id where m.person_id = p.id), '[]') as memberships
     from people p where p.id = $1`,
    [id],
  );
  const [row] = rows;
  return row === undefined ? null : { ...row, sessionsFromMs: row.sessionsFrom.getTime() };
}

/** At most 1,000, the first invited first. */
export async function listMembers(pool: pg.Pool, accountId: number): Promise<readonly Member[]> {
  const { rows } = await pool.query<Member>(
    `select ${MEMBER} from memberships m join people p on p.id = m.person_id where m.account_id = $1
     order by m.created_at, p.id limit 1000`,
    [accountId],
  );
  return rows;
}

export async function readMember(
  client: pg.Pool | pg.ClientBase,
  accountId: number,
  id: number,
): Promise<Member | null> {
  const { rows } = await client.query<Member>(
    `select ${MEMBER} from memberships m join people p on p.id = m.person_id where m.account_id = $1 and p.id = $2`,
    [accountId, id],
  );
  return rows[0] ?? null;
}

export interface Invitation {
  readonly email: string;
  readonly name: string;
  readonly role: StoredRole;
  readonly mayReadBodies: boolean;
}

export type Invited = Member | 'known_here' | 'known_elsewhere';

/**
 * `mayAddKnown`: a person of other accounts is added, too. Whoever could sign in as them so far (by a link, a password or a
 * session that an owner of another account had a hand in) no longer can, for the new account was not theirs.
 */
export function invitePerson(
  pool: pg.Pool,
  accountId: number,
  invited: Invitation,
  mayAddKnown: boolean,
): Promise<Invited> {
  return inTransaction(pool, async (client) => {
    const { rowCount: isNew } = await client.query(
      'insert into people (email, name) values ($1, $2) on conflict ((lower(email))) do nothing',
      [invited.email, invited.name],
    );
    const { rows } = await client.query<{ id: number; isMember: boolean }>(
      `select id, exists (select from memberships where person_id = id and account_id = $2) as "isMember"
       from people where lower(email) = lower($1) for update`,
      [invited.email, accountId],
    );
    const [person] = rows;
    if (person === undefined) throw new Error('the person was not stored');
    if (person.isMember) return 'known_here';
    if (isNew !== 1) {
      if (!mayAddKnown) return 'known_elsewhere';
      await forgetCredentials(client, person.id);
    }
    await client.query(
      'insert into memberships (account_id, person_id, role, may_read_bodies) values ($1, $2, $3, $4)',
      [accountId, person.id, invited.role, invited.mayReadBodies],
    );
    const member = await readMember(client, accountId, person.id);
    if (member === null) throw new Error('the membership was not stored');
    await notePerson(client, accountId, 'person.invite', null, member);
    return member;
  });
}

async function forgetCredentials(client: pg.ClientBase, personId: number): Promise<void> {
  await client.query('update people set password_hash = null, sessions_from = clock_timestamp() where id = $1', [
    personId,
  ]);
  await client.query('delete from person_links where person_id = $1', [personId]);
}

function toAudit({ email, name, role, mayReadBodies, source }: Member): object {
  return { email, name, role, may_read_bodies: mayReadBodies, source };
}

function notePerson(
  client: pg.ClientBase,
  accountId: number,
  action: string,
  before: Member | null,
  after: Member | null,
): Promise<void> {
  const subject = { kind: 'person', id: (after ?? before)?.id ?? null };
  const states = { before: before === null ? null : toAudit(before), after: after === null ? null : toAudit(after) };
  return noteChange(client, { accountId, action, subject, ...states });
}

export type MemberChange = 'unknown' | 'last_owner' | Member;

/** The account's owners, locked, so that two changes at a time cannot leave it without any. */
async function listOtherOwners(client: pg.ClientBase, accountId: number, id: number): Promise<number> {
  const { rows } = await client.query<{ person_id: number }>(
    `select person_id from memberships where account_id = $1 and role = 'owner' order by person_id for update`,
    [accountId],
  );
  return rows.filter((row) => row.person_id !== id).length;
}

export function editMember(
  pool: pg.Pool,
  accountId: number,
  id: number,
  change: { readonly role?: StoredRole | undefined; readonly mayReadBodies?: boolean | undefined },
): Promise<MemberChange> {
  return inTransaction(pool, async (client) => {
    const others = await listOtherOwners(client, accountId, id);
    const before = await readMember(client, accountId, id);
    if (before === null) return 'unknown';
    if (before.role === 'owner' && change.role !== undefined && change.role !== 'owner' && others === 0)
      return 'last_owner';
    await client.query(
      `update memberships set role = coalesce($3, role), may_read_bodies = coalesce($4, may_read_bodies)
       where account_id = $1 and person_id = $2`,
      [accountId, id, change.role ?? null, change.mayReadBodies ?? null],
    );
    const after = await readMember(client, accountId, id);
    if (after === null) return 'unknown';
    await notePerson(client, accountId, 'person.change', before, after);
    return after;
  });
}

/** A person without any account is gone. */
export function removeMember(pool: pg.Pool, accountId: number, id: number): Promise<MemberChange> {
  return inTransaction(pool, async (client) => {
    const others = await listOtherOwners(client, accountId, id);
    const before = await readMember(client, accountId, id);
    if (before === null) return 'unknown';
    if (before.role === 'owner' && others === 0) return 'last_owner';
    await client.query('delete from memberships where account_id = $1 and person_id = $2', [accountId, id]);
    await client.query(
      'delete from people p where id = $1 and not exists (select from memberships where person_id = p.id)',
      [id],
    );
    await notePerson(client, accountId, 'person.remove', before, null);
    return before;
  });
}

export async function endSessionsOf(pool: pg.Pool, personId: number): Promise<void> {
  await pool.query('update people set sessions_from = clock_timestamp() where id = $1', [personId]);
  await pool.query('delete from person_links where person_id = $1', [personId]);
}

/** Returns when the link expires. At most `limit` of a person are open; the first to expire go. */
export async function storePersonLink(
  pool: pg.Pool,
  link: { readonly digest: string; readonly personId: number; readonly lifetimeMs: number; readonly limit: number },
): Promise<Date> {
  const { rows } = await pool.query<{ expires_at: Date }>(
    `with spare as (
       delete from person_links where expires_at < now() or digest in (
         select digest from person_links where person_id = $2 order by expires_at desc offset $4 - 1))
     insert into person_links (digest, person_id, expires_at) values ($1, $2, now() + $3 * interval '1 millisecond')
     returning expires_at`,
    [link.digest, link.personId, link.lifetimeMs, link.limit],
  );
  const [row] = rows;
  if (row === undefined) throw new Error('the link was not stored');
  return row.expires_at;
}

/** The person, once, for one caller on all nodes. Their password is gone: a link is how a forgotten one is replaced. */
export function redeemPersonLink(pool: pg.Pool, digest: string): Promise<KnownPerson | null> {
  return inTransaction(pool, async (client) => {
    const { rows } = await client.query<{ personId: number; isValid: boolean }>(
      'delete from person_links where digest = $1 returning person_id as "personId", expires_at > now() as "isValid"',
      [digest],
    );
    const [row] = rows;
    if (row?.isValid !== true) return null;
    const { rows: people } = await client.query<KnownPerson>(
      'update people set password_hash = null where id = $1 returning id, session_key as "sessionKey"',
      [row.personId],
    );
    return people[0] ?? null;
  });
}

/** `issuer`: of the identity provider that vouches for the person, if one does. Null without a password. */
export async function readPasswordHash(
  pool: pg.Pool,
  email: string,
): Promise<(KnownPerson & { readonly hash: string; readonly issuer: string | null }) | null> {
  const { rows } = await pool.query<KnownPerson & { hash: string | null; issuer: string | null }>(
    'select id, session_key as "sessionKey", password_hash as hash, issuer from people where lower(email) = lower($1)',
    [email],
  );
  const [row] = rows;
  return row === undefined || row.hash === null ? null : { ...row, hash: row.hash };
}

/** Sessions of before are over. */
export function writePasswordHash(pool: pg.Pool, { id, sessionKey }: KnownPerson, hash: string): Promise<void> {
  return inTransaction(pool, async (client) => {
    const { rows } = await client.query<{ hadPassword: boolean; accountId: number | null }>(
      `with old as (select id, password_hash is not null as had_password from people
         where id = $1 and session_key = $3 for update)
       update people p set password_hash = $2, sessions_from = clock_timestamp() from old where p.id = old.id
       returning had_password as "hadPassword",
         (select min(account_id) from memberships where person_id = p.id) as "accountId"`,
      [id, hash, sessionKey],
    );
    const [row] = rows;
    if (row === undefined) return;
    await noteChange(client, {
      accountId: row.accountId ?? FIRST_ACCOUNT_ID,
      action: 'password.set',
      subject: { kind: 'person', id },
      before: { has_password: row.hadPassword },
      after: { has_password: true },
    });
  });
}

/** Returns when the session begins, by the database's clock. Null when the person is gone. */
export function noteSignIn(pool: pg.Pool, { id, sessionKey }: KnownPerson): Promise<Date | null> {
  return inTransaction(pool, async (client) => {
    const { rows } = await client.query<{ at: Date; email: string; accountId: number | null }>(
      `update people set signed_in_at = clock_timestamp() where id = $1 and session_key = $2
       returning signed_in_at as at, email,
         (select min(account_id) from memberships where person_id = people.id) as "accountId"`,
      [id, sessionKey],
    );
    const [row] = rows;
    if (row === undefined) return null;
    await noteSession(client, 'session.begin', id, row);
    return row.at;
  });
}

/** Of a sign-out that no request of the person's own session makes. */
export function noteSignOut(pool: pg.Pool, { id, sessionKey }: KnownPerson): Promise<void> {
  return inTransaction(pool, async (client) => {
    const { rows } = await client.query<{ email: string; accountId: number | null }>(
      `select email, (select min(account_id) from memberships where person_id = people.id) as "accountId"
       from people where id = $1 and session_key = $2`,
      [id, sessionKey],
    );
    const [row] = rows;
    if (row !== undefined) await noteSession(client, 'session.end', id, row);
  });
}

/** By the person, though the request may have no session of theirs. */
function noteSession(
  client: pg.ClientBase,
  action: 'session.begin' | 'session.end',
  personId: number,
  { email, accountId }: { readonly email: string; readonly accountId: number | null },
): Promise<void> {
  return noteChange(client, {
    accountId: accountId ?? FIRST_ACCOUNT_ID,
    action,
    subject: { kind: 'person', id: personId },
    author: { kind: 'person', name: email, from: readAuthor().from },
  });
}
