/** Endpoints with one text prompt and one answer. Sessions, sound and pictures are none of them. */
export const TEXT_ENDPOINTS: readonly string[] = [
  'chat.completions',
  'completions',
  'responses',
  'responses.compact',
  'decisions',
  'messages',
  'complete',
  'generateContent',
  'streamGenerateContent',
  'interactions',
  'converse',
  'converse-stream',
  'invoke',
  'invoke-with-response-stream',
];

/** Endpoints with texts and no answer in words. */
export const EMBEDDING_ENDPOINTS: readonly string[] = ['embeddings', 'embedContent', 'batchEmbedContents'];
