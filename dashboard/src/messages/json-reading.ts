/**
 * Reading JSON of unknown shape: a field that is not there, or of another type, reads as null. Only own properties
 * count, so a body with keys such as `__proto__` or `constructor` means nothing special. It never throws.
 */

export type UnknownRecord = Readonly<Record<string, unknown>>;

export function isRecord(value: unknown): value is UnknownRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Undefined when it is absent. */
export function readField(value: unknown, name: string): unknown {
  return isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

export function readAnyField(value: unknown, ...names: readonly string[]): unknown {
  return names.map((name) => readField(value, name)).find((field) => field !== undefined);
}

export function readText(value: unknown, name: string): string | null {
  const field = readField(value, name);
  return typeof field === 'string' ? field : null;
}

export function readNumber(value: unknown, name: string): number | null {
  const field = readField(value, name);
  return typeof field === 'number' && Number.isFinite(field) ? field : null;
}

export function toList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function readList(value: unknown, name: string): readonly unknown[] {
  return toList(readField(value, name));
}

export function isNothing(value: unknown): value is null | undefined {
  return value === null || value === undefined;
}

/** Undefined when the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
}

/** JSON text for the eye; what cannot be written as JSON (nested far too deep) says so. */
export function formatJson(value: unknown, indent = 2): string {
  try {
    return JSON.stringify(value, null, indent) ?? 'null';
  } catch {
    return '(nested too deeply to be written out)';
  }
}
