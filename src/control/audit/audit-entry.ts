/** A row of the audit log, and its hash. No database: an exported file is verified by the same code. */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { JsonObject, JsonValue } from '../../vocabulary/token-usage.ts';

export const ACTOR_KINDS = ['operator', 'person', 'token', 'process', 'nobody'] as const;

/** Names are those of the columns, the API and the exported file. */
export interface AuditEntry {
  readonly seq: number;
  readonly account_id: number;
  /** RFC 3339, UTC, with milliseconds. */
  readonly at: string;
  readonly actor_kind: (typeof ACTOR_KINDS)[number];
  readonly actor_name: string;
  readonly from_address: string | null;
  readonly action: string;
  readonly subject_kind: string;
  readonly subject_id: string | null;
  readonly before: JsonValue;
  readonly after: JsonValue;
  /** Hex, as `hash`. */
  readonly previous_hash: string;
  readonly hash: string;
}

/** What the first row ever follows. */
export const NO_HASH = '0'.repeat(64);

/** Shows a row of the API or of a file as it is: what it has beyond these names would change its hash. */
export const AuditEntryShape: z.ZodType<AuditEntry> = z.strictObject({
  seq: z.number().int(),
  account_id: z.number().int(),
  at: z.string(),
  actor_kind: z.enum(ACTOR_KINDS),
  actor_name: z.string(),
  from_address: z.string().nullable(),
  action: z.string(),
  subject_kind: z.string(),
  subject_id: z.string().nullable(),
  before: z.json(),
  after: z.json(),
  previous_hash: z.string(),
  hash: z.string(),
});

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function withSortedNames(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withSortedNames);
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([name, one]) => [name, withSortedNames(one)] as const);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** SHA-256 of the row without its hash, in the canonical form of RFC 8785: names in order, no spaces. */
export function hashEntry(entry: Omit<AuditEntry, 'hash'>): string {
  const hashed: JsonObject = {
    seq: entry.seq,
    account_id: entry.account_id,
    at: entry.at,
    actor_kind: entry.actor_kind,
    actor_name: entry.actor_name,
    from_address: entry.from_address,
    action: entry.action,
    subject_kind: entry.subject_kind,
    subject_id: entry.subject_id,
    before: entry.before,
    after: entry.after,
    previous_hash: entry.previous_hash,
  };
  return createHash('sha256')
    .update(JSON.stringify(withSortedNames(hashed)))
    .digest('hex');
}
