/** Until when a key, a token or a link is valid, as its form offers it. */

/** By their days. */
export const EXPIRIES_WITH_END = [
  { value: '1', label: 'After 1 day' },
  { value: '7', label: 'After 7 days' },
  { value: '30', label: 'After 30 days' },
  { value: '90', label: 'After 90 days' },
  { value: '365', label: 'After 1 year' },
] as const;
export const EXPIRIES = [{ value: '0', label: 'Never' }, ...EXPIRIES_WITH_END] as const;

export type DaysToEnd = (typeof EXPIRIES_WITH_END)[number]['value'];
export type ExpiryDays = (typeof EXPIRIES)[number]['value'];

const DAY_MS = 86_400_000;

export function endAfter(days: DaysToEnd): string {
  return new Date(Date.now() + Number(days) * DAY_MS).toISOString();
}

export function expiresAfter(days: ExpiryDays): { readonly expires_at?: string } {
  return days === '0' ? {} : { expires_at: endAfter(days) };
}
