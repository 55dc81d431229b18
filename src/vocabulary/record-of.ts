/** `Object.fromEntries` and `Object.keys` that keep the names in the type. */

export function recordOf<K extends string, T>(names: readonly K[], read: (name: K) => T): { readonly [N in K]: T };
export function recordOf(names: readonly string[], read: (name: string) => unknown): object {
  return Object.fromEntries(names.map((name) => [name, read(name)]));
}

export function namesOf<K extends string>(record: Readonly<Record<K, unknown>>): readonly K[];
export function namesOf(record: object): readonly string[] {
  return Object.keys(record);
}
