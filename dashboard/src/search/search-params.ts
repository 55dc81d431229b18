/**
 * The query part of the address and back: plain text values, `f` repeatable. The same grammar as the API's, so that an
 * address can be read, written by hand and pasted into a request. Router-independent.
 */

export type SearchValue = string | readonly string[] | undefined;
export type RawSearch = Readonly<Record<string, SearchValue>>;

/** May come several times; all others count once, the last wins. */
const REPEATABLE: readonly string[] = ['f'];

export function parseSearch(text: string): RawSearch {
  const search: Record<string, SearchValue> = Object.create(null);
  const parameters = new URLSearchParams(text);
  for (const [name, value] of parameters) search[name] = REPEATABLE.includes(name) ? parameters.getAll(name) : value;
  return search;
}

/** With the question mark; empty when nothing is set. Colons and slashes stay readable. */
export function stringifySearch(search: Readonly<Record<string, unknown>>): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(search)) {
    const values: unknown[] = Array.isArray(value) ? value : [value];
    for (const one of values) if (one !== undefined && one !== null && one !== '') parameters.append(name, String(one));
  }
  const text = parameters.toString().replaceAll('%3A', ':').replaceAll('%2F', '/').replaceAll('%2C', ',');
  return text === '' ? '' : `?${text}`;
}
