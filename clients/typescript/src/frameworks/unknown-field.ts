/** Reading what belongs to others and may have any shape. */

export function field(of: unknown, name: PropertyKey): unknown {
  return (typeof of === 'object' && of !== null) || typeof of === 'function' ? Reflect.get(of, name) : undefined;
}

/** What the method answers; undefined where there is none. */
export function callField(of: unknown, name: PropertyKey, ...args: readonly unknown[]): unknown {
  const method = field(of, name);
  return typeof method === 'function' ? method.call(of, ...args) : undefined;
}

export function text(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}
