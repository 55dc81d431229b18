/** Changes a configuration file's text so that it can be taken back later, also when others have changed it since. Pure. */
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { ConfigFormat, Json, Path } from './config-format.ts';
import { locate, valueAt } from './locate.ts';

export interface Edit {
  readonly path: Path;
  readonly value: Json;
}

const PathBody = z.array(z.union([z.string(), z.record(z.string(), z.string())]));

/** What was there before, and what was put in its place. `former` is absent where nothing was. */
export const ChangeBody = z.object({ path: PathBody, former: z.json().optional(), wrote: z.json() });
export type Change = z.infer<typeof ChangeBody>;

export interface Edited {
  readonly text: string;
  readonly changes: readonly Change[];
}

function read(format: ConfigFormat, text: string, path: Path) {
  const data = format.parse(text);
  const place = locate(data, path);
  const value = valueAt(data, place);
  return { place, value: value === undefined ? undefined : z.json().parse(value) };
}

/** The value with what it lies in, as far as that is missing. */
function nest(path: Path, value: Json): Json {
  return path.reduceRight<Json>(
    (inner, segment) => (typeof segment === 'string' ? { [segment]: inner } : [{ ...segment, ...asObject(inner) }]),
    value,
  );
}

function asObject(value: Json | undefined): Readonly<Record<string, Json>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
}

/** What is missing above a value is made with it, in one change. */
function findMissing(format: ConfigFormat, text: string, path: Path): number {
  const data = format.parse(text);
  for (let length = 1; length < path.length; length += 1)
    if (valueAt(data, locate(data, path.slice(0, length))) === undefined) return length;
  return path.length;
}

function setOne(format: ConfigFormat, text: string, path: Path, value: Json): Edited {
  const length = findMissing(format, text, path);
  const outer = path.slice(0, length);
  const own = outer.at(-1);
  const made = nest(path.slice(length), value);
  const wrote = typeof own === 'object' ? { ...own, ...asObject(made) } : made;
  const { place, value: former } = read(format, text, outer);
  if (isDeepStrictEqual(former, wrote)) return { text, changes: [] };
  const change = { path: [...outer], wrote, ...(former === undefined ? {} : { former }) };
  return { text: format.set(text, place, wrote), changes: [change] };
}

export function editText(format: ConfigFormat, text: string, edits: readonly Edit[]): Edited {
  const changes: Change[] = [];
  let edited = text;
  for (const { path, value } of edits) {
    const one = setOne(format, edited, path, value);
    edited = one.text;
    changes.push(...one.changes);
  }
  return { text: edited, changes };
}

export interface Undone {
  readonly text: string;
  /** What somebody has changed since, and stays. */
  readonly left: readonly Path[];
}

function undoOne(format: ConfigFormat, text: string, { path, former, wrote }: Change): Undone {
  const { place, value } = read(format, text, path);
  if (value === undefined) return { text, left: [] };
  if (isDeepStrictEqual(value, wrote)) return { text: format.set(text, place, former), left: [] };
  const inner = Object.keys(asObject(wrote));
  if (inner.length === 0 || !isDeepStrictEqual(asObject(value), value)) return { text, left: [path] };
  // Somebody has added to what was made: only our members go.
  const before = asObject(former);
  const own = path.at(-1);
  return undoChanges(
    format,
    text,
    inner
      .filter((name) => !(typeof own === 'object' && Object.hasOwn(own, name)))
      .map((name) => ({
        path: [...path, name],
        wrote: asObject(wrote)[name] ?? null,
        ...(before[name] === undefined ? {} : { former: before[name] }),
      })),
  );
}

/** The last change goes first. */
export function undoChanges(format: ConfigFormat, text: string, changes: readonly Change[]): Undone {
  return changes.toReversed().reduce<Undone>(
    (undone, change) => {
      const one = undoOne(format, undone.text, change);
      return { text: one.text, left: [...undone.left, ...one.left] };
    },
    { text, left: [] },
  );
}
