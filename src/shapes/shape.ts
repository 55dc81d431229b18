/**
 * The contract of an answer's shape: how usage stands in the answers of one API, whichever host serves it
 * (Anthropic-shaped answers exist on five hosts). A shape knows JSON and events; it knows nothing of sockets, of
 * providers or of prices. Its functions are total: on anything unexpected they return the reading unchanged.
 */
import type { JsonValue, UsageReading } from '../token-usage.ts';

export type ShapeName =
  | 'chat-completions'
  | 'responses'
  | 'embeddings'
  | 'batches'
  | 'images'
  | 'transcriptions'
  | 'speech'
  | 'messages'
  | 'message-batch'
  /** Nothing is metered; the address of the results is looked at. */
  | 'message-batch-state'
  | 'generate-content'
  | 'interactions'
  | 'gemini-batch'
  | 'gemini-embeddings'
  | 'imagen'
  | 'video-job'
  | 'web-search'
  | 'web-fetch'
  | 'converse'
  | 'invoke'
  /** Passed through and logged, not metered. */
  | 'opaque';

/** First value of a header of the answer by lower-case name, or null. */
export type ReadHeader = (name: string) => string | null;

export interface Shape {
  readonly name: ShapeName;
  /** What the head of a successful answer says, where usage or terms stand there; read before the body. */
  readonly readHead?: (header: ReadHeader, reading: UsageReading) => UsageReading;
  /** A whole JSON answer. Returns what it says; `terminal` is true for a complete body. */
  readonly readJson: (body: JsonValue, reading: UsageReading) => UsageReading;
  /**
   * Cheap test on the bytes of one event, before anything is parsed: may it carry usage, a model, an error or the
   * ending? Streams have thousands of events, and a handful of them matter.
   */
  readonly mayMatter: (data: Buffer) => boolean;
  /**
   * One event of a stream that may matter: its type (SSE `event:` or the frame's `:event-type`) and data; `sawContent`:
   * it or an event before it carried content.
   */
  readonly readEvent: (
    eventType: string | null,
    data: JsonValue,
    reading: UsageReading,
    sawContent?: boolean,
  ) => UsageReading;
  /**
   * True where answers are JSON lines even if their content type does not say so (contents of files are
   * `application/octet-stream`, results of batches once had no type at all). Each line comes to `readEvent`, without
   * an event type; a complete end is the terminal mark.
   */
  readonly areLines?: boolean;
  /** The data text that ends a stream and is not JSON, e.g. `[DONE]`; null when the shape has none. */
  readonly doneText: string | null;
  /**
   * Every whole stream of this shape says that it is over: by its last event, or by the finish reasons of all its
   * parts. One that ends well without was cut short. Of other shapes only those streams whose parts were begun are
   * known to.
   */
  readonly hasLastEvent?: true;
  /** Finish reasons alone make no whole stream: usage always stands behind them, in an event of its own. */
  readonly hasUsageAtEnd?: true;
}
