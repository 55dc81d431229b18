/**
 * Cheap tests on the bytes of an event, made before anything is parsed: one search for several patterns. A quotation
 * mark inside JSON text is written with a backslash, so that `"usage"` with both marks is a name or a whole string
 * value, never a part of one.
 */

/** An `error` member that is not null, or `error` as a value (`"type":"error"`). */
export const ERROR_PATTERN = String.raw`"error"\s*(?::\s*[^n\s]|[^:\s])`;
export const USAGE_PATTERN = String.raw`"usage"\s*:\s*\{`;

/** True when one of the patterns is found. They are of ASCII: the bytes are looked at as Latin-1, which copies cheaply. */
export function createEventTest(...patterns: readonly string[]): (data: Buffer) => boolean {
  const pattern = new RegExp(patterns.join('|'));
  return (data) => pattern.test(data.toString('latin1'));
}
