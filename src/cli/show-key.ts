/** A gateway key in lines: what it may do, and how it is used. */
import { z } from 'zod';
import { formatCount } from '../vocabulary/format-amounts.ts';
import { numberField, textField, timeField } from './fields.ts';
import type { ApiRecord } from './gateway-client.ts';

const List = z.array(z.string()).nullable();
const Use = z.looseObject({ concurrent: z.number(), requests: z.number(), tokens: z.number() }).partial();
const LIMITS = [
  ['max_concurrent', 'calls at once', 'concurrent'],
  ['requests_per_minute', 'requests/min', 'requests'],
  ['tokens_per_minute', 'tokens/min', 'tokens'],
] as const;

export function describeState(key: ApiRecord, nowMs: number): string {
  if (key['revoked_at'] !== null) return `revoked ${timeField(key, 'revoked_at').slice(0, 16)}`;
  if (key['expires_at'] === null) return 'valid';
  const expiresAt = timeField(key, 'expires_at');
  return `${Date.parse(String(key['expires_at'])) <= nowMs ? 'expired' : 'valid until'} ${expiresAt.slice(0, 16)}`;
}

/** `id 4 since 2026-11-28 12:00; 12 calls with this one since then`; null for a key that was not rotated. */
export function describeRotation(key: ApiRecord): string | null {
  if (key['replaced_at'] === null) return null;
  const calls = formatCount(numberField(key, 'calls_since_rotation'));
  return `id ${textField(key, 'replaced_by')} since ${timeField(key, 'replaced_at').slice(0, 16)}; calls with this one since then: ${calls}`;
}

export function describeKey(key: ApiRecord, nowMs: number): readonly (readonly [name: string, value: string])[] {
  const list = (name: string) => List.parse(key[name])?.join(', ') ?? 'all';
  const rotation = describeRotation(key);
  return [
    ['key', `${textField(key, 'prefix')}…${textField(key, 'last4')}`],
    ['name', textField(key, 'name')],
    ['owner', textField(key, 'owner') || 'nobody named'],
    ['state', describeState(key, nowMs)],
    ...(rotation === null ? [] : [['replaced by', rotation] as const]),
    ['last used', timeField(key, 'last_used_at').slice(0, 16) || 'never'],
    ['providers', list('allowed_providers')],
    ['models', list('allowed_models')],
    ['aliases', list('allowed_aliases')],
    ['endpoints', list('allowed_endpoints')],
    ['networks', list('allowed_networks')],
    ['limits', describeLimits(key)],
    ['bodies', textField(key, 'bodies') || 'as the gateway is set'],
    ['usage', textField(key, 'usage') || 'as the gateway is set'],
    ['run budgets', key['allow_run_budget'] === true ? 'set by calls' : 'no'],
    ['in addresses', key['allow_in_address'] === true ? 'allowed' : 'no'],
    ['runs from', ['X-Gateway-Trace-Id', ...(List.parse(key['runs_from']) ?? [])].join(', ')],
  ];
}

/** `60 requests/min (12 used), …`; what is used is known of listed keys alone. */
function describeLimits(key: ApiRecord): string {
  const use = Use.parse(key['limit_use'] ?? {});
  const parts = LIMITS.flatMap(([name, words, used]) => {
    const most = numberField(key, name);
    const inUse = use[used];
    if (most === null) return [];
    return [`${formatCount(most)} ${words}${inUse === undefined ? '' : ` (${formatCount(inUse)} in use)`}`];
  });
  return parts.join(', ') || 'none';
}
