/** The questions to the audit log. */
import type pg from 'pg';
import type { AuditEntry } from './audit-entry.ts';

const COLUMNS = `seq, account_id, to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at, actor_kind,
  actor_name, from_address, action, subject_kind, subject_id, before, after,
  encode(previous_hash, 'hex') as previous_hash, encode(hash, 'hex') as hash`;

export interface EntryFilter {
  readonly from: Date | null;
  readonly to: Date | null;
  /** A part of the name, in any case. */
  readonly actor: string | null;
  /** The whole, or what precedes its dot. */
  readonly action: string | null;
  readonly subjectKind: string | null;
  readonly subjectId: string | null;
}

/** The newest first; `before` goes on where a page ended. */
export async function listEntries(
  client: pg.ClientBase | pg.Pool,
  accountId: number,
  filter: EntryFilter,
  before: number | null,
  limit: number,
): Promise<readonly AuditEntry[]> {
  const { rows } = await client.query<AuditEntry>(
    `select ${COLUMNS} from audit_log
     where account_id = $1 and ($2::int8 is null or seq < $2)
       and ($3::timestamptz is null or at >= $3) and ($4::timestamptz is null or at < $4)
       and ($5::text is null or strpos(lower(actor_name), lower($5)) > 0)
       and ($6::text is null or action = $6 or starts_with(action, $6 || '.'))
       and ($7::text is null or subject_kind = $7) and ($8::text is null or subject_id = $8)
     order by seq desc limit $9`,
    [
      accountId,
      before,
      filter.from,
      filter.to,
      filter.actor,
      filter.action,
      filter.subjectKind,
      filter.subjectId,
      limit,
    ],
  );
  return rows;
}

export interface ChainEnds {
  /** Of the latest row. */
  readonly seq: number;
  readonly hash: string;
  /** Of the last row that retention removed. */
  readonly anchorSeq: number;
  readonly anchorHash: string;
}

export async function readChainEnds(client: pg.ClientBase | pg.Pool): Promise<ChainEnds> {
  const { rows } = await client.query<ChainEnds>(
    `select seq, encode(hash, 'hex') as hash, anchor_seq as "anchorSeq", encode(anchor_hash, 'hex') as "anchorHash"
     from audit_head`,
  );
  const [ends] = rows;
  if (ends === undefined) throw new Error('the table audit_head is empty');
  return ends;
}

/** Of all accounts, the oldest first, after `seq`. */
export async function readEntriesAfter(
  client: pg.ClientBase | pg.Pool,
  seq: number,
  limit: number,
): Promise<readonly AuditEntry[]> {
  const { rows } = await client.query<AuditEntry>(
    `select ${COLUMNS} from audit_log where seq > $1 order by seq limit $2`,
    [seq, limit],
  );
  return rows;
}
