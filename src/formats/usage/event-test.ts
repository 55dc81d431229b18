/** Byte patterns for events. JSON escapes inner quotes, so `"usage"` with both is a name or a whole string. */

/** An `error` member that is not null, or `error` as a value (`"type":"error"`). */
export const ERROR_PATTERN = String.raw`"error"\s*(?::\s*[^n\s]|[^:\s])`;
export const USAGE_PATTERN = String.raw`"usage"\s*:\s*\{`;

/** The bytes are read as Latin-1, which copies cheaply; patterns are ASCII. */
export function createEventTest(...patterns: readonly string[]): (data: Buffer) => boolean {
  const pattern = new RegExp(patterns.join('|'));
  return (data) => pattern.test(data.toString('latin1'));
}
