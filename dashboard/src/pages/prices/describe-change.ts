/** What a recorded change of prices changed: the members that differ, before and after, as short texts. */
import { formatJson, isRecord, type UnknownRecord } from '../../messages/json-reading.ts';

export interface ChangedMember {
  readonly name: string;
  /** Null: it was not there, or was nothing. */
  readonly before: string | null;
  readonly after: string | null;
}

/** Numbers and times of the row itself: they always differ, and nobody declared them. */
const OWN: readonly string[] = ['id', 'created_at', 'kind'];

/** Rates are an object within the declaration: each is a member of its own. */
function flatten(declaration: unknown): ReadonlyMap<string, string> {
  const members = new Map<string, string>();
  const add = (record: UnknownRecord, prefix: string) => {
    for (const [name, value] of Object.entries(record)) {
      if (prefix === '' && OWN.includes(name)) continue;
      if (value === null || value === undefined) continue;
      if (isRecord(value)) add(value, `${prefix}${name}.`);
      else members.set(`${prefix}${name}`, typeof value === 'string' ? value : formatJson(value, 0));
    }
  };
  if (isRecord(declaration)) add(declaration, '');
  return members;
}

export function listChangedMembers(before: unknown, after: unknown): readonly ChangedMember[] {
  const [old, fresh] = [flatten(before), flatten(after)];
  return [...new Set([...old.keys(), ...fresh.keys()])]
    .map((name) => ({ name, before: old.get(name) ?? null, after: fresh.get(name) ?? null }))
    .filter((member) => member.before !== member.after);
}
