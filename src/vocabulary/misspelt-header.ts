/** Finds headers that are nearly one of the gateway's own, so that a slip is noted and not only silently metadata. */

/** The reserved headers after their prefix. */
const RESERVED = ['key', 'provider', 'provider-alias', 'client', 'trace-id', 'span-path', 'span-name'] as const;

/** Written for a reserved header, and too far from it for the count of changed letters. */
const MEANT: ReadonlyMap<string, string> = new Map([
  ['apikey', 'key'],
  ['keys', 'key'],
  ['trace', 'trace-id'],
  ['span', 'span-path'],
]);

const WORD = /^(x[-_]?)?([a-z]{5,9})[-_](.{1,64})$/;

/**
 * The header that was probably meant, in lower case; null for a header as it should be, and for anything else. `lower`
 * is a name in lower case.
 */
export function findMeantHeader(lower: string): string | null {
  const [, x = '', word = '', rest = ''] = WORD.exec(lower) ?? [];
  if (rest === '' || !isNear(word, 'gateway', 2)) return null;
  const isOurPrefix = x === 'x-' && word === 'gateway' && lower.charAt('x-gateway'.length) === '-';
  const reserved = findReserved(rest);
  if (isOurPrefix) return reserved === null || reserved === rest ? null : `x-gateway-${reserved}`;
  // Another program may have headers that begin with the word itself, and only those that we know are then ours.
  if (reserved !== null) return `x-gateway-${reserved}`;
  return x === '' || word === 'gateway' ? null : `x-gateway-${rest}`;
}

function findReserved(rest: string): string | null {
  const plain = rest.replaceAll(/[-_]/g, '');
  const near = RESERVED.find((name) => {
    const own = name.replaceAll('-', '');
    return plain === own || (own.length > 4 && isNear(plain, own, 1));
  });
  return near ?? MEANT.get(plain) ?? null;
}

/** Whether at most `most` letters were added, left out, changed, or swapped with their neighbour. */
function isNear(text: string, word: string, most: number): boolean {
  if (Math.abs(text.length - word.length) > most) return false;
  let beforeLast: number[] = [];
  let last = Array.from({ length: word.length + 1 }, (_, at) => at);
  for (let row = 1; row <= text.length; row += 1) {
    const next = [row];
    for (let at = 1; at <= word.length; at += 1) {
      const isSame = text[row - 1] === word[at - 1];
      let least = Math.min((last[at] ?? 0) + 1, (next[at - 1] ?? 0) + 1, (last[at - 1] ?? 0) + (isSame ? 0 : 1));
      const isSwapped = row > 1 && at > 1 && text[row - 1] === word[at - 2] && text[row - 2] === word[at - 1];
      if (isSwapped) least = Math.min(least, (beforeLast[at - 2] ?? 0) + 1);
      next.push(least);
    }
    beforeLast = last;
    last = next;
  }
  return (last[word.length] ?? most + 1) <= most;
}
