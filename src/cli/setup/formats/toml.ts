/** TOML, as Codex has it. */
import { isDeepStrictEqual } from 'node:util';
import { parse, patch, stringify, TomlFormat } from '@decimalturn/toml-patch';
import { OperatorError } from '../../../vocabulary/errors.ts';
import type { ConfigFormat, Json, Place } from '../config-format.ts';
import { valueAt, withValue } from '../locate.ts';

/** A table is written in one line. */
const INLINE = Object.assign(TomlFormat.default(), { inlineTableStart: 0 });

function read(text: string): Record<string, unknown> {
  try {
    return parse(text);
  } catch (cause) {
    throw new OperatorError('is no TOML', { cause });
  }
}

function isTable(value: Json): value is Record<string, Json> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The names down to the innermost table that holds more than one other table. */
function readHeading(place: Place, value: Json): { readonly names: readonly string[]; readonly table: Json } {
  const [only, ...others] = isTable(value) ? Object.entries(value) : [];
  const names = place.map(String);
  if (only === undefined || others.length > 0 || !isTable(only[1])) return { names, table: value };
  return readHeading([...names, only[0]], only[1]);
}

/** A new table stands at the end under a heading, as people write it; the library would put it into one line of the top. */
function appendTable(text: string, place: Place, value: Json): string {
  const { names, table } = readHeading(place, value);
  const heading = names.map((name) => (/^[\w-]+$/.test(name) ? name : JSON.stringify(name))).join('.');
  const gap = text === '' ? '' : text.endsWith('\n') ? '\n' : '\n\n';
  return `${text}${gap}[${heading}]\n${stringify(table, INLINE)}`;
}

export const tomlFormat: ConfigFormat = {
  parse: (text): Json => JSON.parse(JSON.stringify(read(text))),
  set: (text, place, value) => {
    // Dates stay what the library has read.
    const data = read(text);
    const wanted = withValue(data, place, value);
    if (value === undefined || !isTable(value) || valueAt(data, place) !== undefined) return patch(text, wanted);
    const appended = appendTable(text, place, value);
    return isDeepStrictEqual(toPlain(read(appended)), toPlain(wanted)) ? appended : patch(text, wanted);
  },
};

function toPlain(data: unknown): unknown {
  return JSON.parse(JSON.stringify(data));
}
