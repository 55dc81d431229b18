/** Exact decimals for rates and multipliers, and the only rounding of a price. Amounts are in `usd.ts`. */
import type { PicoUsd } from '../vocabulary/usd.ts';

/** A number times 1e18. */
export type Decimal = bigint;

const SCALE = 18;
const UNIT = 10n ** BigInt(SCALE);
const SCALE_TO_PICO = 10n ** BigInt(2 * SCALE - 12);
const PATTERN = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,3}))?$/;

export const ONE: Decimal = UNIT;

/** Also reads a number's shortest form, `"7.5e-7"`. Throws a RangeError on anything else. */
export function parseDecimal(text: string): Decimal {
  const match = PATTERN.exec(text);
  if (match === null) throw new RangeError(`not a decimal: ${JSON.stringify(text)}`);
  const [, sign = '', whole = '0', fraction = '', exponent = '0'] = match;
  const shift = SCALE - fraction.length + Number(exponent);
  const digits = BigInt(whole + fraction);
  const divisor = shift < 0 ? 10n ** BigInt(-shift) : 1n;
  if (digits % divisor !== 0n) throw new RangeError(`more than ${SCALE} decimals: ${JSON.stringify(text)}`);
  const value = shift < 0 ? digits / divisor : digits * 10n ** BigInt(shift);
  return sign === '-' ? -value : value;
}

export function formatDecimal(value: Decimal): string {
  const sign = value < 0n ? '-' : '';
  const digits = (value < 0n ? -value : value).toString().padStart(SCALE + 1, '0');
  const fraction = digits.slice(-SCALE).replace(/0+$/, '');
  return sign + digits.slice(0, -SCALE) + (fraction === '' ? '' : `.${fraction}`);
}

/** Exact while both have few decimals, which the price data's test checks. */
export function multiplyDecimals(a: Decimal, b: Decimal): Decimal {
  return (a * b) / UNIT;
}

/** Divides two non-negative integers, rounding half to even. */
export function divideHalfEven(numerator: bigint, denominator: bigint): bigint {
  const quotient = numerator / denominator;
  const twice = (numerator % denominator) * 2n;
  if (twice < denominator) return quotient;
  if (twice > denominator) return quotient + 1n;
  return quotient % 2n === 0n ? quotient : quotient + 1n;
}

export function priceQuantity(quantity: number, rate: Decimal, multiplier: Decimal, per: number): PicoUsd {
  return divideHalfEven(BigInt(quantity) * rate * multiplier, BigInt(per) * SCALE_TO_PICO);
}
