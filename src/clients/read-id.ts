/** Ids of sessions, agents and turns from headers: short, printable, and fit for a step's name. */

/** Longer than any id of a known client; what is longer is none. */
const MAX_ID_CHARS = 128;
const ID = /^[\w.:@+=~-]+$/;
const ODD = /[^\w.:@+=~-]/g;

/** Null where there is none. Characters that no client's ids have, such as a slash or control bytes, become `_`. */
export function readId(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  const text = value.trim();
  if (text === '' || text.length > MAX_ID_CHARS) return null;
  return ID.test(text) ? text : text.replace(ODD, '_');
}
