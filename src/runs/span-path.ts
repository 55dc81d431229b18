/**
 * Span paths: `X-Gateway-Span-Path` to the decoded names of a run's steps, and back to the one canonical spelling, the
 * span key. Two paths that mean the same steps have the same key. Nothing of runs or storage.
 */
import { decodePercent } from '../wire/percent-decoding.ts';

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
    const name = decodePercent(segment);
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
  return key === '' ? [] : key.split('/').map(decodePercent);
}

/** Everything but RFC 3986's unreserved characters is escaped, as by `encodeURIComponent`, which leaves five more. */
function encodeSegment(name: string): string {
  return encodeURIComponent(name.toWellFormed()).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
