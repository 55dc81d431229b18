/** Finds small text fields in the head or tail of a `multipart/form-data` body (RFC 7578) without copying. */
import { readParameter } from './header-parameters.ts';

/** A larger field has no value here: a model, a switch or a session with instructions is short. */
export const MAX_FIELD_BYTES = 64 * 1024;
const MAX_PART_HEAD_BYTES = 16 * 1024;
const MAX_BOUNDARY_CHARS = 200;

const CR = 13;
const LF = 10;
const DASH = 45;
const HEAD_END = Buffer.from('\r\n\r\n');

/** The content type's boundary, or null when it is not multipart. */
export function readBoundary(contentType: string | null): string | null {
  if (contentType === null || !/^\s*multipart\//i.test(contentType)) return null;
  const boundary = readParameter(contentType, 'boundary');
  return boundary === null || boundary === '' || boundary.length > MAX_BOUNDARY_CHARS ? null : boundary;
}

interface Delimiter {
  readonly start: number;
  readonly end: number;
  readonly isLast: boolean;
}

/** Values of the wanted fields that are whole in `bytes`; the later of two equal names wins, as in servers. */
export function readMultipartFields(bytes: Buffer, boundary: string, wanted: readonly string[]): Map<string, string> {
  const fields = new Map<string, string>();
  const mark = Buffer.from(`--${boundary}`, 'latin1');
  let open = findDelimiter(bytes, mark, 0);
  while (open !== null && !open.isLast) {
    const next = findDelimiter(bytes, mark, open.end);
    if (next === null) return fields;
    readPart(bytes.subarray(open.end, next.start), wanted, fields);
    open = next;
  }
  return fields;
}

/** Finds the next line that is exactly a boundary. */
function findDelimiter(bytes: Buffer, mark: Buffer, from: number): Delimiter | null {
  for (let at = bytes.indexOf(mark, from); at !== -1; at = bytes.indexOf(mark, at + 1)) {
    const isAtLineStart = at === 0 || (bytes[at - 2] === CR && bytes[at - 1] === LF);
    if (!isAtLineStart) continue;
    const after = at + mark.length;
    // A part without a body ends in the line end that closes its headers.
    const start = Math.max(at - 2, from);
    if (bytes[after] === DASH && bytes[after + 1] === DASH) return { start, end: after + 2, isLast: true };
    let lineEnd = after;
    while (bytes[lineEnd] === 32 || bytes[lineEnd] === 9) lineEnd += 1;
    if (bytes[lineEnd] === CR && bytes[lineEnd + 1] === LF) return { start, end: lineEnd + 2, isLast: false };
  }
  return null;
}

function readPart(part: Buffer, wanted: readonly string[], fields: Map<string, string>): void {
  const headEnd = part.subarray(0, MAX_PART_HEAD_BYTES).indexOf(HEAD_END);
  if (headEnd === -1) return;
  const value = part.subarray(headEnd + HEAD_END.length);
  if (value.length > MAX_FIELD_BYTES) return;
  const disposition = part
    .toString('utf8', 0, headEnd)
    .split('\r\n')
    .find((line) => /^content-disposition\s*:/i.test(line));
  if (disposition === undefined || readParameter(disposition, 'filename') !== null) return;
  const name = readParameter(disposition, 'name');
  if (name !== null && wanted.includes(name)) fields.set(name, value.toString('utf8'));
}
