/** A trace id short enough for a cell: beginning and end, which is where ids differ. */

const MOST_CHARACTERS = 16;
const HEAD = 8;
const TAIL = 6;

export function shortenTraceId(trace: string): string {
  const characters = Array.from(trace);
  if (characters.length <= MOST_CHARACTERS) return trace;
  return `${characters.slice(0, HEAD).join('')}…${characters.slice(-TAIL).join('')}`;
}
