/** Where the answers of one of Google's batches stand. Source: Gemini API reference, Batch API, November 2026. */
import type { JsonObject, JsonValue } from '../../vocabulary/token-usage.ts';
import { readArray, readName, readObject } from './read-json.ts';

/** Embeddings have a name of their own. */
const INLINED = ['inlinedResponses', 'inlinedEmbedContentResponses'] as const;
const FILE = 'responsesFile';

export interface BatchOutput {
  /** The answers themselves; a request that failed has an error in place of its `response`. */
  readonly items: readonly JsonValue[];
  /** The file that holds them instead. */
  readonly file: string | null;
}

/**
 * The operation's `response` is the output or holds it, and its `metadata`, the batch, repeats it. Only the first that
 * has any is read. Null where there is none.
 */
export function readBatchOutput(operation: JsonObject): BatchOutput | null {
  const response = readObject(operation, 'response');
  const places = [response, readObject(response, 'output'), readObject(readObject(operation, 'metadata'), 'output')];
  const output = places.find((place) => place !== null && [...INLINED, FILE].some((name) => place[name] !== undefined));
  if (output === undefined || output === null) return null;
  const holder = INLINED.map((name) => readObject(output, name)).find((found) => found !== null) ?? null;
  return { items: readArray(holder, 'inlinedResponses'), file: readName(output, FILE) };
}

export function listInlinedAnswers({ items }: BatchOutput): readonly JsonObject[] {
  return items.map((item) => readObject(item, 'response')).filter((answer) => answer !== null);
}
