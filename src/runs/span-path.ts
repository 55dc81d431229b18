/**
 * Span paths: `X-Gateway-Span-Path` to the decoded names of a run's steps, and back to the one canonical spelling, the
 * span key. Two paths that mean the same steps have the same key. Nothing of runs or storage.
 */

/** Steps below each other; deeper ones are cut. */
export const MAX_SPAN_DEPTH = 200;
/** Length of a span key in bytes (it is ASCII); names that no longer fit are cut. */
export const MAX_SPAN_KEY_BYTES = 4096;

export interface SpanPath {
  /** Decoded, outermost first. */
  readonly names: readonly string[];
  /** The names encoded again and joined with `/`; empty for a path without names. */
  readonly key: string;
  /** Depth or length was over the limit. */
  readonly isCut: boolean;
}

/** Splits on `/`, then decodes each segment; empty segments vanish. Total: a malformed escape stays as it is. */
export function readSpanPath(spanPath: string): SpanPath {
  const names: string[] = [];
  let key = '';
  for (const segment of spanPath.split('/')) {
    if (segment === '') continue;
    const name = decodeSegment(segment);
    const encoded = encodeSegment(name);
    const longer = key === '' ? encoded : `${key}/${encoded}`;
    if (names.length === MAX_SPAN_DEPTH || longer.length > MAX_SPAN_KEY_BYTES) return { names, key, isCut: true };
    names.push(name);
    key = longer;
  }
  return { names, key, isCut: false };
}

/** The canonical spelling of these names. */
export function encodeSpanKey(names: readonly string[]): string {
  return names.map(encodeSegment).join('/');
}

/** The names in a span key. */
export function decodeSpanKey(key: string): readonly string[] {
  return key === '' ? [] : key.split('/').map(decodeSegment);
}

/** Everything but RFC 3986's unreserved characters is escaped, as by `encodeURIComponent`, which leaves five more. */
function encodeSegment(name: string): string {
  return encodeURIComponent(name.toWellFormed()).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** Each run of escapes that is valid UTF-8 is decoded; one that is not stays literal, the rest of the segment is. */
function decodeSegment(segment: string): string {
  if (!segment.includes('%')) return segment.toWellFormed();
  return segment.replace(/(?:%[0-9a-fA-F]{2})+/g, decodeEscapes).toWellFormed();
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Decodes the valid characters among some escapes, and leaves each invalid byte as it was spelt. */
function decodeEscapes(escapes: string): string {
  // Not a Buffer: the dashboard runs this too, in the browser.
  const bytes = Uint8Array.from(escapes.split('%').slice(1), (hex) => Number.parseInt(hex, 16));
  let decoded = '';
  for (let index = 0; index < bytes.length; ) {
    const length = characterLength(bytes[index] ?? 0);
    const character = length === 0 ? null : decodeCharacter(bytes.subarray(index, index + length));
    decoded += character ?? escapes.slice(index * 3, index * 3 + 3);
    index += character === null ? 1 : length;
  }
  return decoded;
}

function characterLength(firstByte: number): number {
  if (firstByte < 0x80) return 1;
  if (firstByte >= 0xc2 && firstByte <= 0xdf) return 2;
  if (firstByte >= 0xe0 && firstByte <= 0xef) return 3;
  return firstByte >= 0xf0 && firstByte <= 0xf4 ? 4 : 0;
}

function decodeCharacter(bytes: Uint8Array): string | null {
  try {
    return UTF8.decode(bytes);
  } catch {
    // The answer to "is this a character": it is not.
    return null;
  }
}
