/** When a token or a link ends by itself: as a flag asks for it, and as a list says it. */
import { parseSeconds } from './duration.ts';
import { timeField } from './fields.ts';
import type { ApiRecord } from './gateway-client.ts';

/** `--expires 30d` as the API takes it, a time from now on; without the flag there is no end. */
export function expiryOf(flag: string | undefined): { readonly expires_at?: string } {
  if (flag === undefined) return {};
  return { expires_at: new Date(Date.now() + parseSeconds(flag, '--expires') * 1_000).toISOString() };
}

/** `active`, `until 2026-12-28 09:15`, `expired` or `revoked`. */
export function describeEnd(token: ApiRecord, nowMs: number): string {
  if (token['revoked_at'] !== null) return 'revoked';
  const expiresAt = token['expires_at'];
  if (typeof expiresAt !== 'string') return 'active';
  return Date.parse(expiresAt) <= nowMs ? 'expired' : `until ${timeField(token, 'expires_at').slice(0, 16)}`;
}
