/**
 * Cheap tests on the bytes of an event, made before anything is parsed. A quotation mark inside JSON text is written
 * with a backslash, so that `"usage"` with both marks is a name or a whole string value, never a part of one.
 */
import { isJsonSpace } from '../wire/json-scan.ts';

const COLON = 58;
const OPEN_BRACE = 123;
const N = 110;

/** The first byte of the value after a name that ends at `at`, or null when it is no name. */
function valueByte(data: Buffer, at: number): number | undefined | null {
  let pos = at;
  while (isJsonSpace(data[pos])) pos += 1;
  if (data[pos] !== COLON) return null;
  pos += 1;
  while (isJsonSpace(data[pos])) pos += 1;
  return data[pos];
}

/** True when the name (with its quotation marks) stands somewhere with an object as its value. */
export function hasObjectMember(data: Buffer, quotedName: Buffer): boolean {
  for (let at = data.indexOf(quotedName); at !== -1; at = data.indexOf(quotedName, at + quotedName.length)) {
    if (valueByte(data, at + quotedName.length) === OPEN_BRACE) return true;
  }
  return false;
}

/** True when the name stands with any value but null, or is itself a value (`"type":"error"`). */
export function hasMember(data: Buffer, quotedName: Buffer): boolean {
  for (let at = data.indexOf(quotedName); at !== -1; at = data.indexOf(quotedName, at + quotedName.length)) {
    if (valueByte(data, at + quotedName.length) !== N) return true;
  }
  return false;
}
