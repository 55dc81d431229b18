/** A text as one word of a POSIX shell. Not for U+0000, which no argument can hold. */
export function quoteForShell(text: string): string {
  return /^[A-Za-z0-9_./:=@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
