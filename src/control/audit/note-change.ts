/** Adds a row to the audit log, in the transaction of the change that it is about: there is no change without its row. */
import type pg from 'pg';
import { hideSecretForms } from '../../formats/wire/secret-form.ts';
import type { JsonValue } from '../../vocabulary/token-usage.ts';
import { type AuditEntry, hashEntry } from './audit-entry.ts';
import { type Author, countNoted, readAuthor } from './author.ts';

/** Of `before` and `after` each. */
const MAX_STATE_BYTES = 16 * 1024;
const MAX_NAME_CHARS = 300;

export interface Change {
  readonly accountId: number;
  /** What was done, such as `key.create`. */
  readonly action: string;
  /** The one it was done to; a null id where there is but one, or none. */
  readonly subject: { readonly kind: string; readonly id: string | number | null };
  /** Anything that JSON can say; dates become text. Never with a secret: what has the form of one is hidden. */
  readonly before?: object | null;
  readonly after?: object | null;
  /** By default whoever made the request. */
  readonly author?: Author;
}

/**
 * Call it last in the transaction: it waits for the end of the log, which it then holds until the commit, and whoever
 * waits for anything else meanwhile holds up all changes.
 */
export async function noteChange(client: pg.ClientBase, change: Change): Promise<void> {
  const { rows } = await client.query<{ seq: number; hash: string; at: Date }>(
    `select seq, encode(hash, 'hex') as hash, clock_timestamp()::timestamptz(3) as at from audit_head for update`,
  );
  const [head] = rows;
  if (head === undefined) throw new Error('the table audit_head is empty');
  const { kind, name, from } = change.author ?? readAuthor();
  const row: Omit<AuditEntry, 'hash'> = {
    seq: head.seq + 1,
    account_id: change.accountId,
    at: head.at.toISOString(),
    actor_kind: kind,
    actor_name: toStorable(name),
    from_address: from === null ? null : toStorable(from),
    action: change.action,
    subject_kind: change.subject.kind,
    subject_id: change.subject.id === null ? null : toStorable(String(change.subject.id)),
    before: toState(change.before),
    after: toState(change.after),
    previous_hash: head.hash,
  };
  await client.query(
    `with head as (update audit_head set seq = $1, hash = decode($13, 'hex'))
     insert into audit_log (seq, account_id, at, actor_kind, actor_name, from_address, action, subject_kind, subject_id,
       before, after, previous_hash, hash)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, decode($12, 'hex'), decode($13, 'hex'))`,
    [
      row.seq,
      row.account_id,
      row.at,
      row.actor_kind,
      row.actor_name,
      row.from_address,
      row.action,
      row.subject_kind,
      row.subject_id,
      toJsonb(row.before),
      toJsonb(row.after),
      row.previous_hash,
      hashEntry(row),
    ],
  );
  countNoted();
}

function toJsonb(state: JsonValue): string | null {
  return state === null ? null : JSON.stringify(state);
}

/** PostgreSQL stores neither U+0000 nor half a surrogate pair. */
function toStorable(text: string): string {
  return hideSecretForms(text.slice(0, MAX_NAME_CHARS).toWellFormed().replaceAll('\0', '\ufffd'));
}

function toState(state: object | null | undefined): JsonValue {
  if (state === null || state === undefined) return null;
  const text = JSON.stringify(state, (_name, value: unknown) =>
    typeof value === 'string' ? hideSecretForms(value.toWellFormed().replaceAll('\0', '\ufffd')) : value,
  );
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_STATE_BYTES) return { left_out: 'it is too large for the audit log', bytes };
  const parsed: JsonValue = JSON.parse(text);
  return parsed;
}
