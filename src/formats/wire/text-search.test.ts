import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Span, TextSearch } from './text-search.ts';

/** Every place, one after the other. */
function findSlowly(bytes: string, text: string): Span[] {
  const spans: Span[] = [];
  for (let at = bytes.indexOf(text); at !== -1; at = bytes.indexOf(text, at + 1)) {
    const last = spans.at(-1);
    if (last !== undefined && at <= last[1]) spans[spans.length - 1] = [last[0], at + text.length];
    else spans.push([at, at + text.length]);
  }
  return spans;
}

function countSlowly(isCut: (length: number) => boolean, below: number): number {
  for (let length = below - 1; length > 0; length -= 1) if (isCut(length)) return length;
  return 0;
}

test('a search finds what a simple one finds, with places that overlap, and what is cut at either end', () => {
  const letters = (max: number) => fc.string({ unit: fc.constantFrom('a', 'b', 'é'), minLength: 1, maxLength: max });
  fc.assert(
    fc.property(letters(80), letters(6), fc.nat(40), (bytes, piece, repeated) => {
      for (const text of [piece, piece.repeat(repeated + 1)]) {
        const search = new TextSearch(text);
        const given = Buffer.from(bytes + text.slice(0, 3) + bytes, 'latin1');
        const plain = given.toString('latin1');
        expect(search.find(given)).toEqual(findSlowly(plain, text));
        expect(search.countBegun(given)).toBe(countSlowly((n) => plain.endsWith(text.slice(0, n)), text.length));
        expect(search.countEnded(given)).toBe(countSlowly((n) => plain.startsWith(text.slice(-n)), text.length));
      }
    }),
    { numRuns: 500 },
  );
});

test.each([
  ['a long text of one letter', 'a'.repeat(30_000)],
  ['one that nearly fits everywhere', `${'a'.repeat(15_000)}b${'a'.repeat(15_000)}`],
  ['a short one', 'a'.repeat(8)],
])('in a megabyte of one letter %s is looked for in no more than a moment', (_, text) => {
  const bytes = Buffer.alloc(1024 * 1024, 'a');
  const before = process.cpuUsage();
  new TextSearch(text).find(bytes);
  const { user } = process.cpuUsage(before);
  expect(user / 1_000).toBeLessThan(1_500);
});
