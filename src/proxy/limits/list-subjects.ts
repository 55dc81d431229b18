/** Which limits a call comes under: its key's, its account's, and those of its metadata's values. */
import type { KeySnapshot } from '../../keys/key-snapshot.ts';
import type { KeyEntry } from '../../vocabulary/channel.ts';
import type { AccountLimit, Limit } from '../../vocabulary/limit.ts';
import { keySubject, limitSubject } from '../../vocabulary/limit-subjects.ts';

export interface LimitedSubject {
  readonly subject: string;
  readonly limit: Limit;
  /** In the gateway's own words, for the refusal. */
  readonly whose: string;
  /** How it is changed. */
  readonly change: string;
}

const NONE: readonly LimitedSubject[] = Object.freeze([]);

export function listSubjects(
  { keyId, accountId, limit, firstKeyId }: KeyEntry,
  metadata: readonly (readonly [name: string, value: string])[],
  snapshot: KeySnapshot | null,
): readonly LimitedSubject[] {
  const limits = snapshot?.limits.get(accountId);
  if (limit === undefined && limits === undefined) return NONE;
  const found: LimitedSubject[] = [];
  if (limit !== undefined)
    found.push({
      subject: keySubject(firstKeyId ?? keyId),
      limit,
      whose: 'this gateway key',
      change: `keys edit ${keyId}`,
    });
  for (const each of limits ?? []) {
    const { limitId, metadataKey } = each;
    const change = `limits edit ${limitId}`;
    if (metadataKey === null) {
      found.push({ subject: limitSubject(limitId, null), limit: each, whose: 'this account', change });
      continue;
    }
    const value = readValue(metadata, metadataKey);
    if (value === null || !isFor(each, value, limits ?? [])) continue;
    found.push({ subject: limitSubject(limitId, value), limit: each, whose: `each value of ${metadataKey}`, change });
  }
  return found;
}

function readValue(metadata: readonly (readonly [name: string, value: string])[], key: string): string | null {
  const lower = key.toLowerCase();
  return metadata.find(([name]) => name.toLowerCase() === lower)?.[1] ?? null;
}

/** A limit for one value stands instead of that for each. */
function isFor({ metadataKey, metadataValue }: AccountLimit, value: string, all: readonly AccountLimit[]): boolean {
  if (metadataValue !== null) return metadataValue === value;
  return !all.some(
    (other) => other.metadataValue === value && other.metadataKey?.toLowerCase() === metadataKey?.toLowerCase(),
  );
}
