/** Exact money in pico-dollars, as `numeric(24,12)` columns. Never a float, which cannot hold 0.1. */

/** US dollars times 1e12. */
export type PicoUsd = bigint;

const PICO_DIGITS = 12;
const PICO_PER_USD = 10n ** BigInt(PICO_DIGITS);
const ZERO = 48;
const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?$/;

/** Reads a plain decimal such as `"0.00039"`. Throws a RangeError on anything else and on more than 12 decimals. */
export function parseUsd(text: string): PicoUsd {
  const match = DECIMAL.exec(text);
  if (match === null) throw new RangeError(`not a decimal amount: ${JSON.stringify(text)}`);
  const [, sign = '', whole = '0', fraction = ''] = match;
  const significant = fraction.replace(/0+$/, '');
  if (significant.length > PICO_DIGITS)
    throw new RangeError(`more than ${PICO_DIGITS} decimals: ${JSON.stringify(text)}`);
  const pico = BigInt(whole) * PICO_PER_USD + BigInt(significant.padEnd(PICO_DIGITS, '0'));
  return sign === '-' ? -pico : pico;
}

export function greater(a: PicoUsd, b: PicoUsd): PicoUsd {
  return a > b ? a : b;
}

/** Without exponent or trailing zeros: `"0.00039"`, `"12"`, `"0"`. */
export function formatUsd(pico: PicoUsd): string {
  const sign = pico < 0n ? '-' : '';
  const digits = (pico < 0n ? -pico : pico).toString().padStart(PICO_DIGITS + 1, '0');
  const point = digits.length - PICO_DIGITS;
  let end = digits.length;
  while (end > point && digits.charCodeAt(end - 1) === ZERO) end -= 1;
  const whole = sign + digits.slice(0, point);
  return end === point ? whole : `${whole}.${digits.slice(point, end)}`;
}
