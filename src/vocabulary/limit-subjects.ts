/** The names of what limits are counted for: `key:3`, `limit:2` (an account), `limit:2=VALUE` (a value of a metadata key). */
import { hash } from 'node:crypto';

/** A longer value is counted by its digest: a client makes them up. */
const MAX_VALUE_CHARS = 64;
/** No header value has it. */
export const ALL_OTHERS = '\n';

export function keySubject(keyId: number): string {
  return `key:${keyId}`;
}

export function limitSubject(limitId: number, value: string | null): string {
  if (value === null) return `limit:${limitId}`;
  return `limit:${limitId}=${value.length > MAX_VALUE_CHARS ? `#${hash('sha256', value, 'hex')}` : value}`;
}

/** What values are counted for together when too many are in use; null for what is no value. */
export function overflowOf(subject: string): string | null {
  const equals = subject.indexOf('=');
  return equals === -1 ? null : subject.slice(0, equals + 1) + ALL_OTHERS;
}
