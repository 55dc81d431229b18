/** Compares names with the patterns of a key's allowance: `*` stands for any characters, also none; without case. */

/** Each pattern's texts between its stars, by the list itself, which is the same until the key changes. */
const SPLIT = new WeakMap<readonly string[], readonly (readonly string[])[]>();

export function matchesAny(patterns: readonly string[], name: string): boolean {
  let split = SPLIT.get(patterns);
  if (split === undefined) {
    split = patterns.map((pattern) => pattern.toLowerCase().split('*'));
    SPLIT.set(patterns, split);
  }
  const lower = name.toLowerCase();
  return split.some((parts) => matches(parts, lower));
}

/** No regular expression: the time of one with several stars grows out of bounds with a name that a client makes up. */
function matches(parts: readonly string[], name: string): boolean {
  const [first = ''] = parts;
  if (parts.length === 1) return name === first;
  const last = parts.at(-1) ?? '';
  const end = name.length - last.length;
  if (!name.startsWith(first) || !name.endsWith(last)) return false;
  let at = first.length;
  for (const part of parts.slice(1, -1)) {
    const found = name.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return at <= end;
}
