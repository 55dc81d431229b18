/** By what calls are told to repeat each other: hashes of what was said, of which nothing can be read back. Pure. */
import { createHash } from 'node:crypto';

const MARK_CHARACTERS = 16;

export interface CallMarks {
  /** Of the whole prompt. */
  readonly prompt: string | null;
  /** Of the prompt up to the last answer in it, else of all: an agent that begins again from one place repeats it. */
  readonly conversation: string | null;
  /** Of the tools that the answer calls, with their arguments. */
  readonly toolCalls: string | null;
}

export const NO_MARKS: CallMarks = { prompt: null, conversation: null, toolCalls: null };

/** Null for nothing. */
export function markOf(texts: readonly string[]): string | null {
  if (texts.length === 0) return null;
  const hash = createHash('sha256');
  for (const text of texts) hash.update(text).update('\0');
  return hash.digest('base64url').slice(0, MARK_CHARACTERS);
}
