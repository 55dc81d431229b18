/** Span paths: `X-Gateway-Span-Path` as the decoded names of a run's steps and as their canonical span key. */
import { decodePercent } from '../../formats/wire/percent-decoding.ts';

/** Deeper steps are cut. */
export const MAX_SPAN_DEPTH = 200;
/** Names that no longer fit are cut; the key is ASCII. */
export const MAX_SPAN_KEY_BYTES = 4096;

export interface SpanPath {
  readonly names: readonly string[];
  /** The names encoded and joined with `/`; empty for a path without names. */
  readonly key: string;
  readonly isCut: boolean;
}

/** Splits on `/`, then decodes each segment. Empty segments vanish; a malformed escape stays as it is. */
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

export function encodeSpanKey(names: readonly string[]): string {
  return names.map(encodeSegment).join('/');
}

export function decodeSpanKey(key: string): readonly string[] {
  return key === '' ? [] : key.split('/').map(decodePercent);
}

/** Escapes all but RFC 3986's unreserved characters; `encodeURIComponent` leaves five more. */
function encodeSegment(name: string): string {
  return encodeURIComponent(name.toWellFormed()).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
