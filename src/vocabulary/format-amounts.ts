/** Money, tokens, durations and sizes for people, rounded; `--json` has the exact values. */
import { formatUsd, type PicoUsd } from './usd.ts';

const PICO_DIGITS = 12;
const HUNDRED = 100_000_000_000_000n;

const UNKNOWN = '—';

/** `$123.46` from 100, else four significant digits (`$1.235`, `$0.0001485`); at least two decimals. */
export function formatMoney(amount: PicoUsd | null): string {
  return amount === null ? UNKNOWN : formatRounded(amount, 'nearest');
}

/** `≥ $1.234`: the known part of a sum, rounded down. */
export function formatAtLeast(amount: PicoUsd): string {
  return `≥ ${formatRounded(amount, 'down')}`;
}

function formatRounded(amount: PicoUsd, rounding: 'nearest' | 'down'): string {
  const absolute = amount < 0n ? -amount : amount;
  const digits = absolute.toString().length;
  const significant = absolute >= HUNDRED ? digits - PICO_DIGITS + 2 : 4;
  const decimals = Math.min(PICO_DIGITS, Math.max(2, significant + PICO_DIGITS - digits));
  const unit = 10n ** BigInt(PICO_DIGITS - decimals);
  // Down means towards less: away from zero for a credit.
  const extra = rounding === 'nearest' ? unit / 2n : amount < 0n ? unit - 1n : 0n;
  const rounded = ((absolute + extra) / unit) * unit;
  const [whole = '0', fraction = ''] = formatUsd(rounded).split('.');
  return `${amount < 0n ? '-' : ''}$${whole}.${fraction.padEnd(2, '0')}`;
}

/** `~$0.0012 (estimate)` where only an estimate is known. */
export function formatCost(total: PicoUsd | null, estimate: PicoUsd | null): string {
  return total === null && estimate !== null ? `~${formatMoney(estimate)} (estimate)` : formatMoney(total);
}

/** With calls whose cost is not wholly known, the sum is "at least". */
export function formatSum(amount: PicoUsd, unpricedCalls: number): string {
  return unpricedCalls > 0 ? formatAtLeast(amount) : formatMoney(amount);
}

/** `812`, `12.4k`, `1.2M`. */
export function formatCount(count: number | null): string {
  if (count === null) return UNKNOWN;
  if (count < 1_000) return String(count);
  const [unit, suffix] = count < 999_950 ? [1_000, 'k'] : count < 999_950_000 ? [1_000_000, 'M'] : [1_000_000_000, 'G'];
  return `${(count / unit).toFixed(1)}${suffix}`;
}

export function formatExactCount(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ',');
}

/** `412 ms`, `3.21 s`, `2 m 04 s`, `1 h 02 m`. */
export function formatDuration(durationMs: number | null): string {
  if (durationMs === null) return UNKNOWN;
  if (durationMs < 1_000) return `${Math.round(durationMs)} ms`;
  if (durationMs < 59_995) return `${(durationMs / 1_000).toFixed(2)} s`;
  const seconds = Math.round(durationMs / 1_000);
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} m ${String(seconds % 60).padStart(2, '0')} s`;
  const minutes = Math.round(seconds / 60);
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, '0')} m`;
}

/** `512 B`, `1.5 MB` (decimal units). */
export function formatBytes(bytes: number | null): string {
  if (bytes === null) return UNKNOWN;
  const units = ['B', 'kB', 'MB', 'GB', 'TB'] as const;
  let value = bytes;
  let index = 0;
  while (value >= 999.95 && index < units.length - 1) {
    value /= 1_000;
    index += 1;
  }
  return `${index === 0 ? value : value.toFixed(1)} ${units[index] ?? ''}`;
}
