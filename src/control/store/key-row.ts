/** A gateway key as its table has it: what can be set, its columns, and what others get of a row. Only digests come here. */
import type { KeyEntry } from '../../vocabulary/channel.ts';
import { namesOf } from '../../vocabulary/record-of.ts';
import { LIMIT_FIELDS, type LimitColumns, toKeyLimit } from './call-limits.ts';
import { ALLOWANCE_FIELDS, type AllowanceColumns, toAllowance } from './key-allowance.ts';

/** What can be set of a key. */
export interface KeySettings extends AllowanceColumns, LimitColumns {
  readonly name: string;
  /** Who answers for it; null where nobody was named. */
  readonly owner: string | null;
  readonly expiresAtMs: number | null;
  readonly usage: 'ask' | 'observe' | null;
  readonly bodies: 'full' | 'off' | null;
  readonly allowInAddress: boolean;
  /** Its calls may set the budget of their run. */
  readonly allowRunBudget: boolean;
  /** As in `run-sources.ts`; empty where runs come from the header alone. */
  readonly runsFrom: readonly string[];
}

/** What can be changed of a key; absent stays as it is, or as the table has it by default. */
export type KeyEdit = { readonly [Field in keyof KeySettings]?: KeySettings[Field] | undefined };

export interface NewKey extends KeyEdit {
  readonly accountId: number;
  readonly name: string;
  /** SHA-256 of the key, hex. */
  readonly digest: string;
  readonly prefix: string;
  readonly last4: string;
}

export interface StoredKey extends KeySettings, Pick<NewKey, 'accountId' | 'prefix' | 'last4'> {
  readonly keyId: number;
  readonly createdAtMs: number;
  readonly lastUsedAtMs: number | null;
  readonly revokedAtMs: number | null;
  /** The key that a rotation made instead of it. */
  readonly replacedBy: number | null;
  readonly replacedAtMs: number | null;
}

export type KeyRow = StoredKey & Pick<NewKey, 'digest'>;

/** Milliseconds, also inside `json_agg`, where a time would be text. */
const msOf = (column: string) => `floor(extract(epoch from ${column}) * 1000)::int8`;

/** The column of each setting, but for its end, which a rotation sets anew. */
const SETTING_COLUMNS = {
  name: 'name',
  owner: 'owner',
  usage: 'usage_policy',
  bodies: 'bodies_policy',
  allowInAddress: 'allow_in_address',
  allowRunBudget: 'allow_run_budget',
  runsFrom: 'runs_from',
  ...ALLOWANCE_FIELDS,
  ...LIMIT_FIELDS,
} as const satisfies Readonly<Record<Exclude<keyof KeySettings, 'expiresAtMs'>, string>>;

export const COPIED_COLUMNS = Object.values(SETTING_COLUMNS);

export const KEY_COLUMNS = `id as "keyId", account_id as "accountId", encode(digest, 'hex') as digest, prefix, last4,
  ${msOf('created_at')} as "createdAtMs", ${msOf('last_used_at')} as "lastUsedAtMs",
  ${msOf('revoked_at')} as "revokedAtMs", ${msOf('expires_at')} as "expiresAtMs",
  replaced_by as "replacedBy", ${msOf('replaced_at')} as "replacedAtMs",
  ${Object.entries(SETTING_COLUMNS)
    .map(([field, column]) => `${column} as "${field}"`)
    .join(', ')}`;

/** Column and value of each setting that is given. */
export function listSet(edit: KeyEdit): readonly (readonly [column: string, value: unknown])[] {
  const { expiresAtMs, ...others } = edit;
  const set = namesOf(SETTING_COLUMNS).flatMap((field): (readonly [string, unknown])[] =>
    others[field] === undefined ? [] : [[SETTING_COLUMNS[field], others[field]]],
  );
  return expiresAtMs === undefined ? set : [...set, ['expires_at', toDate(expiresAtMs)] as const];
}

function toDate(timeMs: number | null): Date | null {
  return timeMs === null ? null : new Date(timeMs);
}

/** What is so by default is left out: an entry that a former release wrote is equal then. */
export function toEntry({
  digest,
  keyId,
  accountId,
  revokedAtMs,
  expiresAtMs,
  usage,
  bodies,
  ...more
}: KeyRow): KeyEntry {
  return {
    digest,
    keyId,
    accountId,
    revoked: revokedAtMs !== null,
    expiresAtMs,
    usage,
    bodies,
    ...(more.allowInAddress ? { allowInAddress: true } : {}),
    ...(more.allowRunBudget ? { allowRunBudget: true } : {}),
    ...(more.owner === null ? {} : { owner: more.owner }),
    ...(more.runsFrom.length === 0 ? {} : { runsFrom: more.runsFrom }),
    ...toAllowance(more),
    ...toKeyLimit(more),
  };
}

export function toStoredKey({ digest: _, ...key }: KeyRow): StoredKey {
  return key;
}
