/** Budgets in words. */
import type { Budget } from '../../api/budgets.ts';

export const SCOPE_CHOICES = [
  { value: 'run', label: 'Each run' },
  { value: 'key', label: 'Each gateway key' },
  { value: 'account', label: 'The account' },
  { value: 'owner', label: 'Each owner of keys' },
  { value: 'metadata', label: 'Each value of a metadata key' },
] as const satisfies readonly { readonly value: Budget['scope']; readonly label: string }[];

export const PERIOD_CHOICES = [
  { value: 'hour', label: 'An hour' },
  { value: 'day', label: 'A day' },
  { value: 'week', label: 'A week' },
  { value: 'month', label: 'A month' },
  { value: 'once', label: 'Once, without end' },
] as const satisfies readonly { readonly value: Budget['period']; readonly label: string }[];

const SCOPES: Readonly<Record<Budget['scope'], string>> = {
  run: 'run',
  key: 'gateway key',
  account: 'account',
  owner: 'owner',
  metadata: 'value',
};

export function describeScope({ scope, metadata_key: key, value }: Budget): string {
  if (scope === 'account') return 'The account';
  const what = scope === 'metadata' ? (key ?? '') : SCOPES[scope];
  if (value === null) return `Each ${what}`;
  return scope === 'metadata' ? `${what}: ${value}` : `${what[0]?.toUpperCase()}${what.slice(1)} ${value}`;
}

export function describePeriod({ period, time_zone: zone }: Budget): string {
  if (period === 'once') return 'once';
  return zone === 'UTC' || period === 'hour' ? `each ${period}` : `each ${period} (${zone})`;
}
