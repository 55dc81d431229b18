/** Amounts as reports write them, to exact money: dollars at OpenAI, cents at Anthropic. Never through a float. */
import { divideHalfEven } from '../pricing/decimal.ts';
import type { PicoUsd } from '../usd.ts';

const PICO_DIGITS = 12;
/** OpenAI has been seen to write a zero as `0E-6176`; no amount of money has a digit so far from its point. */
const MAX_SHIFT = 60;
const AMOUNT = /^([+-]?)(\d{1,40})(?:\.(\d{1,80}))?(?:[eE]([+-]?\d{1,6}))?$/;
const DECIMALS_OF = { dollars: 0, cents: 2 } as const;

/**
 * Reads `0.06`, `1.5e-2`, `"0.000004500000000000000000000000000000000"`, or with `cents` `"123.78912"` ($1.2378912). What lies
 * below a pico-dollar is rounded, half to even. Null when the text is no amount.
 */
export function parseReportAmount(text: string, unit: keyof typeof DECIMALS_OF): PicoUsd | null {
  const match = AMOUNT.exec(text.trim());
  if (match === null) return null;
  const [, sign = '', whole = '0', fraction = '', exponent = '0'] = match;
  const digits = BigInt(whole + fraction);
  if (digits === 0n) return 0n;
  const shift = PICO_DIGITS + Number(exponent) - fraction.length - DECIMALS_OF[unit];
  if (shift > MAX_SHIFT) return null;
  // So far below the point that nothing of it is left.
  const absolute =
    shift >= 0
      ? digits * 10n ** BigInt(shift)
      : -shift > MAX_SHIFT + 120
        ? 0n
        : divideHalfEven(digits, 10n ** BigInt(-shift));
  return sign === '-' ? -absolute : absolute;
}
