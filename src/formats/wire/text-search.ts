/**
 * Where a text stands in bytes, in time that grows with their length and not with the product of both, whoever chose
 * them (Knuth, Morris and Pratt). A megabyte of one letter keeps the searches of Node busy for a minute.
 */

/** Found by Node's search, which is faster where nothing stands; short enough that its worst is bounded. */
const ANCHOR_BYTES = 32;
/** A beginning shorter than this is none. */
export const SHORTEST_BEGINNING = 8;

/** From, and up to without it. */
export type Span = readonly [number, number];

/** A shorter piece stands in many texts. */
const MIN_TELLING_CHARS = 4;

/**
 * A search stops at each place where the first character stands. `s` is everywhere in a text, and `-` is not: what begins
 * with the first character that is no small letter is found, or not found, nine times as fast.
 */
function findTelling(beginning: string): string {
  const at = beginning.search(/[^a-z]/);
  return at === -1 || beginning.length - at < MIN_TELLING_CHARS ? beginning : beginning.slice(at);
}

export class TextSearch {
  readonly #characters: string;
  readonly #telling: string;
  /** One byte a character; made when something may stand somewhere, which is nearly never. */
  #bytes: Buffer | null = null;
  #borders: Int32Array | null = null;

  constructor(text: string) {
    this.#characters = text;
    this.#telling = findTelling(text.slice(0, SHORTEST_BEGINNING));
  }

  get #text(): Buffer {
    this.#bytes ??= Buffer.from(this.#characters, 'latin1');
    return this.#bytes;
  }

  /** False: neither the text nor a beginning of it that counts stands in there. Cheap; true may be a mistake. */
  mayStandIn(bytesOrText: Buffer | string): boolean {
    return typeof bytesOrText === 'string'
      ? bytesOrText.includes(this.#telling)
      : bytesOrText.includes(this.#telling, 0, 'latin1');
  }

  /** In order; places that overlap or touch are one. */
  find(bytes: Buffer): Span[] {
    const { length } = this.#text;
    const first = length === 0 ? -1 : bytes.indexOf(this.#text.subarray(0, ANCHOR_BYTES));
    if (first === -1) return [];
    const spans: Span[] = [];
    let from = first;
    let to = first;
    this.#walk(bytes, first, (end) => {
      if (end - length > to) {
        if (to > from) spans.push([from, to]);
        from = end - length;
      } else if (to === from) from = end - length;
      to = end;
    });
    if (to > from) spans.push([from, to]);
    return spans;
  }

  /** How many of the last bytes are the beginning of the text, which is not whole there. */
  countBegun(bytes: Buffer): number {
    const { length } = this.#text;
    return length < 2 ? 0 : this.#walk(bytes, Math.max(0, bytes.length - length + 1), () => {});
  }

  /** How many of the first bytes are the ending of the text, which is not whole there. */
  countEnded(bytes: Buffer): number {
    const backwards = new TextSearch(this.#characters.split('').reverse().join(''));
    return backwards.countBegun(Buffer.from(bytes.subarray(0, this.#text.length)).reverse());
  }

  /** Returns how much of the text the bytes end with. */
  #walk(bytes: Buffer, start: number, onEnd: (end: number) => void): number {
    const text = this.#text;
    this.#borders ??= listBorders(text);
    const borders = this.#borders;
    let matched = 0;
    for (let at = start; at < bytes.length; at += 1) {
      while (matched > 0 && (matched === text.length || bytes[at] !== text[matched]))
        matched = borders[matched - 1] ?? 0;
      if (bytes[at] === text[matched]) matched += 1;
      if (matched === text.length) onEnd(at + 1);
    }
    return matched;
  }
}

/** The longest other beginning of the text that each beginning ends with. */
function listBorders(text: Buffer): Int32Array {
  const borders = new Int32Array(text.length);
  for (let at = 1, length = 0; at < text.length; at += 1) {
    while (length > 0 && text[at] !== text[length]) length = borders[length - 1] ?? 0;
    if (text[at] === text[length]) length += 1;
    borders[at] = length;
  }
  return borders;
}
