/** One event of a streamed answer, whatever framing it came in. */
export interface StreamEvent {
  /** The framing's own name of the event; null where it has none. */
  readonly name: string | null;
  readonly data: unknown;
}

export function appendText(texts: Map<string, string>, key: string, text: string | null): void {
  if (text !== null) texts.set(key, (texts.get(key) ?? '') + text);
}

/** The entries of a map in the order of their number. Positions come from the stream and can be anything. */
export function inOrder<T>(entries: ReadonlyMap<number, T>): readonly T[] {
  return [...entries].sort(([a], [b]) => a - b).map(([, entry]) => entry);
}
