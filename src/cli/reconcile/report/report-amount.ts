/** Parses reported amounts to exact money: dollars at OpenAI, cents at Anthropic. Never a float. */
import { divideHalfEven } from '../../../pricing/decimal.ts';
import type { PicoUsd } from '../../../vocabulary/usd.ts';

const PICO_DIGITS = 12;
/** OpenAI writes some zeros as `0E-6176`; no amount has a digit so far from its point. */
const MAX_SHIFT = 60;
const AMOUNT = /^([+-]?)(\d{1,40})(?:\.(\d{1,80}))?(?:[eE]([+-]?\d{1,6}))?$/;
const DECIMALS_OF = { dollars: 0, cents: 2 } as const;

/** Reads `0.06`, `1.5e-2`, or cents; below a pico-dollar half to even. Null for other text. */
export function parseReportAmount(text: string, unit: keyof typeof DECIMALS_OF): PicoUsd | null {
  const match = AMOUNT.exec(text.trim());
  if (match === null) return null;
  const [, sign = '', whole = '0', fraction = '', exponent = '0'] = match;
  const digits = BigInt(whole + fraction);
  if (digits === 0n) return 0n;
  const shift = PICO_DIGITS + Number(exponent) - fraction.length - DECIMALS_OF[unit];
  if (shift > MAX_SHIFT) return null;
  // Too small for any digit to remain.
  const absolute =
    shift >= 0
      ? digits * 10n ** BigInt(shift)
      : -shift > MAX_SHIFT + 120
        ? 0n
        : divideHalfEven(digits, 10n ** BigInt(-shift));
  return sign === '-' ? -absolute : absolute;
}
