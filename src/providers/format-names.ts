/** Names of answer and session formats; `formats/usage/` reads them. */

export type UsageFormatName =
  | 'chat-completions'
  | 'responses'
  | 'embeddings'
  | 'batches'
  | 'images'
  | 'transcriptions'
  | 'speech'
  | 'messages'
  | 'message-batch'
  /** Not metered; the address of the results is read. */
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
  | 'opaque';

export type SessionName =
  | 'realtime'
  | 'responses-session'
  | 'live-session'
  | 'bidi-generate-content'
  | 'opaque-session';
