import { describe, expect, it } from 'vitest';
import { divideHalfEven, formatDecimal, multiplyDecimals, ONE, parseDecimal, priceQuantity } from './decimal.ts';

describe('decimals', () => {
  it('reads the shortest form of a float exactly, with and without an exponent', () => {
    expect(parseDecimal('0.003625')).toBe(3_625_000_000_000_000n);
    expect(parseDecimal('7.5e-7')).toBe(750_000_000_000n);
    expect(parseDecimal(String(0.1))).toBe(ONE / 10n);
    expect(parseDecimal('1e3')).toBe(1000n * ONE);
  });

  it('refuses what it cannot hold or does not understand, instead of guessing', () => {
    expect(() => parseDecimal('1e-19')).toThrow(RangeError);
    expect(() => parseDecimal('NaN')).toThrow(RangeError);
    expect(() => parseDecimal('')).toThrow(RangeError);
    expect(() => parseDecimal('0x10')).toThrow(RangeError);
  });

  it('prints without an exponent and without trailing zeros', () => {
    expect(formatDecimal(parseDecimal('30'))).toBe('30');
    expect(formatDecimal(parseDecimal('0.0625'))).toBe('0.0625');
    expect(formatDecimal(parseDecimal('1e-18'))).toBe('0.000000000000000001');
    expect(formatDecimal(0n)).toBe('0');
  });

  it('multiplies factors exactly', () => {
    expect(formatDecimal(multiplyDecimals(parseDecimal('0.5'), parseDecimal('1.1')))).toBe('0.55');
  });
});

describe('rounding', () => {
  it('sends a tie to the even neighbour and everything else to the nearer one', () => {
    expect(divideHalfEven(5n, 10n)).toBe(0n);
    expect(divideHalfEven(15n, 10n)).toBe(2n);
    expect(divideHalfEven(25n, 10n)).toBe(2n);
    expect(divideHalfEven(35n, 10n)).toBe(4n);
    expect(divideHalfEven(26n, 10n)).toBe(3n);
    expect(divideHalfEven(24n, 10n)).toBe(2n);
  });

  it('happens once a line, at the pico-dollar', () => {
    // One token at $0.0000005 a million is half a pico-dollar; three of them are one and a half.
    const rate = parseDecimal('0.0000005');
    expect(priceQuantity(1, rate, ONE, 1_000_000)).toBe(0n);
    expect(priceQuantity(3, rate, ONE, 1_000_000)).toBe(2n);
    expect(priceQuantity(5, rate, ONE, 1_000_000)).toBe(2n);
    // One cached token of DeepSeek at $0.003625 a million: no rounding needed.
    expect(priceQuantity(1, parseDecimal('0.003625'), ONE, 1_000_000)).toBe(3_625n);
  });
});
