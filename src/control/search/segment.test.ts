import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { foldText } from './fold-text.ts';
import { createGramSet, readNeedle } from './grams.ts';
import { encodeSegment, findGram, hasStretch, partOf, type Segment } from './segment.ts';

/** Texts in several scripts, with letters whose case is odd, marks, and emoji. */
const text = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        'İ',
        'ı',
        'I',
        'ß',
        'ẞ',
        'Σ',
        'ς',
        'é',
        'e\u0301',
        '👩‍💻',
        '🎉',
        '你好',
        '世界',
        'مرحبا',
        'שלום',
        'Ж',
        'ж',
        ' ',
        '\n',
        '"',
        '\\',
        '_',
        '-',
        'Kelvin K',
      ),
      fc.string({ unit: 'grapheme', maxLength: 12 }),
      fc.string({ maxLength: 12 }),
    ),
    { maxLength: 8 },
  )
  // The database holds no lone surrogate.
  .map((parts) => parts.join('').toWellFormed());

function segmentOf(stretches: readonly (readonly string[])[]): Segment {
  const grams = createGramSet();
  return encodeSegment(
    stretches.map((texts) => {
      for (const one of texts) grams.add(one);
      return grams.take();
    }),
  );
}

function stretchesWith({ directory, grams }: Segment, gram: number, count: number): number[] {
  const part = partOf(gram);
  const found = findGram(grams.subarray(directory[part], directory[part + 1]), gram);
  return Array.from({ length: count }, (_, stretch) => stretch).filter((stretch) => hasStretch(found, stretch));
}

describe('a segment of the search index', () => {
  test('has every gram with exactly its stretches', () => {
    const gram = fc.oneof(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 1, max: 0xffffffff }));
    const stretch = fc.uniqueArray(gram, { maxLength: 60 }).map((grams) => Uint32Array.from(grams).sort());
    fc.assert(
      fc.property(fc.array(stretch, { maxLength: 64 }), fc.array(gram, { maxLength: 5 }), (stretches, others) => {
        const segment = encodeSegment(stretches);
        for (const wanted of new Set([...stretches.flatMap((grams) => [...grams]), ...others]))
          expect(stretchesWith(segment, wanted, stretches.length)).toEqual(
            stretches.flatMap((grams, index) => (grams.includes(wanted) ? [index] : [])),
          );
      }),
    );
  });

  test('offers every stretch that contains a text, in any case', () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(text, { maxLength: 4 }), { minLength: 1, maxLength: 64 }),
        fc.nat(),
        fc.nat(),
        fc.nat(),
        fc.boolean(),
        (stretches, pick, from, length, isUpper) => {
          const texts = stretches.flat();
          const source = [...(texts[pick % Math.max(1, texts.length)] ?? '')];
          const start = from % (source.length + 1);
          const part = source.slice(start, start + (length % 12)).join('');
          // Capital letters that stand for two small ones are another text: ß and SS.
          const asked = isUpper && foldText(part.toUpperCase()) === foldText(part) ? part.toUpperCase() : part;
          const segment = segmentOf(stretches);
          const holding = stretches.flatMap((own, index) =>
            own.some((one) => foldText(one).includes(foldText(asked))) ? [index] : [],
          );
          for (const gram of readNeedle(asked).part)
            expect(stretchesWith(segment, gram, stretches.length)).toEqual(expect.arrayContaining(holding));
        },
      ),
    );
  });

  test('leaves out a stretch without the text', () => {
    const segment = segmentOf([['the toll of the road'], ['an Invoice of March'], ['発票を送る']]);
    const stretchesOf = (needle: string) => readNeedle(needle).part.map((gram) => stretchesWith(segment, gram, 3));
    expect(stretchesOf('invoice')).toEqual([[1], [1], [1], [1], [1], [1], [1], [1]]);
    expect(stretchesOf('票を送')).toEqual([[2], [2], [2]]);
    expect(stretchesOf('発票')).toEqual([[2]]);
    expect(stretchesOf('nvoic')).toEqual([[1], [1], [1], [1]]);
    expect(readNeedle('ab').part).toEqual([]);
  });

  test('has no grams of a stretch with too many, and names it', () => {
    const many = Array.from({ length: 70_000 }, (_, index) =>
      String.fromCodePoint(0x4e00 + (index % 20_000), 0x5e00 + Math.floor(index / 7), 0x6e00 + (index % 13)),
    ).join(' ');
    const segment = segmentOf([['road'], [many]]);
    expect(segment.saturated).toEqual([1]);
    expect(readNeedle('road').part.map((gram) => stretchesWith(segment, gram, 2))).toEqual([[0], [0]]);
  });
});

describe('a folded text', () => {
  test.each([
    ['İSTANBUL', 'istanbul'],
    ['ΟΔΟΣ', 'οδοσ'],
    ['οδος', 'οδοσ'],
    ['STRASSE ẞ', 'strasse ß'],
    ['ЖИЗНЬ', 'жизнь'],
    ['Kelvin', 'kelvin'],
    ['👩‍💻 你好', '👩‍💻 你好'],
  ])('%s is %s', (given, folded) => {
    expect(foldText(given)).toBe(folded);
  });

  test('has as many units as before', () => {
    fc.assert(
      fc.property(text, (given) => {
        expect(foldText(given)).toHaveLength(given.length);
      }),
    );
  });
});
