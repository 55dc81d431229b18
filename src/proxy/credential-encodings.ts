/** Other ways in which an error may repeat a credential: encoded, nested in something encoded, or masked. */
import type { Span } from '../formats/wire/text-search.ts';

const MIN_ENCODED_CHARS = 8;
/** Base64 takes three bytes at a time, so a text's offset among them decides its encoding. */
const ALIGNMENTS = [0, 1, 2] as const;
/** How a byte's hex digits are written: in an address, in a nested one, in JSON, source text, HTML, and dumps. */
const BY_BYTE = ['%$&', '%25$&', '\\u00$&', '\\\\u00$&', '\\x$&', '\\\\x$&', '&#x$&;', '$&:', '$& '] as const;
/** Around each byte's number: in HTML, and in a list. */
const BY_NUMBER = [
  ['&#', ';'],
  ['', ','],
  ['', ', '],
] as const;
const MASK =
  /[*•·…#_-]{3,}|[*•·…]{2}|\.{3,}|…|[xX]{4,}|[[<({](?:redacted|hidden|masked|filtered|removed|secret|truncated)[\])}>]|(?:\\u2022|\\u2026|\u00e2\u0080\u00a2|\u00e2\u0080\u00a6)+/gi;
/** A masked credential must show this much of its ends; any text matches less by chance. */
const MIN_SHOWN = { head: 2, tail: 2, headAlone: 6, tailAlone: 4 } as const;
const MAX_SHOWN_CHARS = 64;
/** Bounds the work for one text; an error has one or two masks. */
const MAX_MASKS = 1_000;

/** Base64 and base64url, alone or within a longer encoded text, and the byte-wise forms. */
export function listEncodings(text: string): readonly string[] {
  const bytes = Buffer.from(text, 'latin1');
  const hex = bytes.toString('hex');
  const encoded = ALIGNMENTS.flatMap((before) => {
    const base64 = Buffer.concat([Buffer.alloc(before), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    // The outer characters also carry bits of the neighbouring bytes.
    const from = Math.ceil((before * 8) / 6);
    const own = base64.slice(from, Math.floor(((before + bytes.length) * 8) / 6));
    return [own, own.replaceAll('+', '-').replaceAll('/', '_'), own.replaceAll('/', '\\/')];
  });
  const pairs = [hex, hex.toUpperCase()].flatMap((one) => [one, ...BY_BYTE.map((form) => one.replace(/../g, form))]);
  const decimals = BY_NUMBER.map(([before, behind]) => Array.from(bytes, (byte) => before + byte).join(behind));
  return [...encoded, ...pairs, ...decimals].filter((one) => one.length >= MIN_ENCODED_CHARS);
}

/** Spans of credentials with a masked middle, `sk-ab***wxyz`, mask included. */
export function listMasked(text: string, credentials: readonly string[]): readonly Span[] {
  const spans: Span[] = [];
  let masks = 0;
  for (const match of text.matchAll(MASK)) {
    masks += 1;
    if (masks > MAX_MASKS) break;
    const from = match.index;
    const to = from + match[0].length;
    for (const credential of credentials) {
      const head = countHead(text, from, credential);
      const tail = countTail(text, to, credential);
      const isShown =
        (head >= MIN_SHOWN.head && tail >= MIN_SHOWN.tail) ||
        head >= MIN_SHOWN.headAlone ||
        tail >= MIN_SHOWN.tailAlone;
      if (isShown) spans.push([from - head, to + tail]);
    }
  }
  return spans;
}

function countHead(text: string, end: number, credential: string): number {
  for (let count = Math.min(MAX_SHOWN_CHARS, credential.length - 1, end); count > 0; count -= 1)
    if (text.startsWith(credential.slice(0, count), end - count)) return count;
  return 0;
}

function countTail(text: string, start: number, credential: string): number {
  for (let count = Math.min(MAX_SHOWN_CHARS, credential.length - 1); count > 0; count -= 1)
    if (text.startsWith(credential.slice(-count), start)) return count;
  return 0;
}
