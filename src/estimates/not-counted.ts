/** What was billed, or may have been, and that no count of text sees. A part of an estimate. */
export type NotCounted =
  /** Pictures, sound, film and files. */
  | 'media'
  /** What the provider keeps and the request only names: a former response, a conversation, a cache, a stored prompt. */
  | 'stored_context'
  /** Thoughts that are not sent, or only in summary. */
  | 'hidden_reasoning'
  /** The answer: nothing of it came, and the model may have begun it. */
  | 'answer';
