/** Finds values in parsed files. Pure. */
import type { Json, Path, Place, Segment } from './config-format.ts';

type Value = unknown;

function isRecord(value: Value): value is Record<string, Value> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function hasMembers(value: Value, members: Readonly<Record<string, string>>): boolean {
  return isRecord(value) && Object.entries(members).every(([name, text]) => value[name] === text);
}

function step(value: Value, segment: Segment): string | number {
  if (typeof segment === 'string') return segment;
  const list = Array.isArray(value) ? value : [];
  const at = list.findIndex((one) => hasMembers(one, segment));
  return at < 0 ? list.length : at;
}

export function valueAt(data: Value, place: Place): Value {
  let value = data;
  for (const key of place) {
    if (typeof key === 'number') value = Array.isArray(value) ? value[key] : undefined;
    else value = isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  }
  return value;
}

/** A member of a list that is not there has the place behind its end. */
export function locate(data: Value, path: Path): Place {
  const place: (string | number)[] = [];
  for (const segment of path) place.push(step(valueAt(data, place), segment));
  return place;
}

/** A copy, along the place alone, in which that value is another, or not there. Members are made; members of lists are not. */
export function withValue(data: Value, place: Place, value: Json | undefined): Record<string, Value> {
  const [name, ...rest] = place;
  const copy = isRecord(data) ? { ...data } : {};
  if (typeof name !== 'string') return copy;
  const inner: Value = rest.length === 0 ? value : withValue(copy[name], rest, value);
  if (inner === undefined) delete copy[name];
  else copy[name] = inner;
  return copy;
}
