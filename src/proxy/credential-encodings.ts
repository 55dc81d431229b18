/** The other ways in which an error may repeat a credential: encoded, within something that is encoded, or masked. */
import type { Span } from '../wire/text-search.ts';

const MIN_ENCODED_CHARS = 8;
/** Base64 takes three bytes at a time: where a text begins within them decides how it is written. */
const ALIGNMENTS = [0, 1, 2] as const;
/** Of the two digits of each byte: in an address, in one within another, in JSON, in source text, in HTML, and as a dump shows them. */
const BY_BYTE = ['%$&', '%25$&', '\\u00$&', '\\\\u00$&', '\\x$&', '\\\\x$&', '&#x$&;', '$&:', '$& '] as const;
/** Between the numbers of bytes: in HTML, and in a list. */
const BY_NUMBER = [
  ['&#', ';'],
  ['', ','],
  ['', ', '],
] as const;
/** What stands for the part that is not shown. */
const MASK =
  /[*•·…#_-]{3,}|[*•·…]{2}|\.{3,}|…|[xX]{4,}|[[<({](?:redacted|hidden|masked|filtered|removed|secret|truncated)[\])}>]|(?:\\u2022|\\u2026|\u00e2\u0080\u00a2|\u00e2\u0080\u00a6)+/gi;
/** Of the beginning and of the end of a credential that is masked; less of both is in any text. */
const MIN_SHOWN = { head: 2, tail: 2, headAlone: 6, tailAlone: 4 } as const;
const MAX_SHOWN_CHARS = 64;
/** Of one text; an error has one or two. */
const MAX_MASKS = 1_000;

/** As base64 and base64url, alone or as a part of a longer text that is encoded, and byte by byte. */
export function listEncodings(text: string): readonly string[] {
  const bytes = Buffer.from(text, 'latin1');
  const hex = bytes.toString('hex');
  const encoded = ALIGNMENTS.flatMap((before) => {
    const base64 = Buffer.concat([Buffer.alloc(before), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    // The first and the last character also carry bits of what stands beside the text.
    const from = Math.ceil((before * 8) / 6);
    const own = base64.slice(from, Math.floor(((before + bytes.length) * 8) / 6));
    return [own, own.replaceAll('+', '-').replaceAll('/', '_'), own.replaceAll('/', '\\/')];
  });
  const pairs = [hex, hex.toUpperCase()].flatMap((one) => [one, ...BY_BYTE.map((form) => one.replace(/../g, form))]);
  const decimals = BY_NUMBER.map(([before, behind]) => Array.from(bytes, (byte) => before + byte).join(behind));
  return [...encoded, ...pairs, ...decimals].filter((one) => one.length >= MIN_ENCODED_CHARS);
}

/** Where a credential stands with its middle masked, `sk-ab***wxyz`: what of it is shown, and the mask. */
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
