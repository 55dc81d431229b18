/** What may have been billed and no text count sees. */
export type NotCounted =
  | 'media'
  /** Context that the provider keeps and the request names: a response, a conversation, a cache, a stored prompt. */
  | 'stored_context'
  /** Thoughts not sent, or only in summary. */
  | 'hidden_reasoning'
  /** No answer came, although the model may have begun one. */
  | 'answer';
