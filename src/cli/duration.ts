/** Durations as people write them on the command line. */
import { OperatorError } from '../vocabulary/errors.ts';

const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** `30m`, `24h`, `7d`, in seconds; the gateway checks the limit. `option` is named where it is none. */
export function parseSeconds(text: string, option: string): number {
  const [, digits, unit = ''] = /^(\d{1,8})([smhd])$/.exec(text) ?? [];
  if (digits === undefined) throw new OperatorError(`${option}: "${text}" is no duration; write 30m, 24h or 7d`);
  return Number(digits) * (SECONDS[unit] ?? 1);
}
