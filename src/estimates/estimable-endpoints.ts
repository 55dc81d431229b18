/** The endpoints whose bodies are text in one prompt and one answer. Of sessions, sound and pictures there is no estimate. */

interface EstimableEndpoint {
  /** False: nothing is written, and only the input is billed. */
  readonly hasAnswer: boolean;
}

const WITH_ANSWER: readonly string[] = [
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

const WITHOUT_ANSWER: readonly string[] = ['embeddings', 'embedContent', 'batchEmbedContents'];

export const ESTIMABLE_ENDPOINTS: ReadonlyMap<string, EstimableEndpoint> = new Map([
  ...WITH_ANSWER.map((name): [string, EstimableEndpoint] => [name, { hasAnswer: true }]),
  ...WITHOUT_ANSWER.map((name): [string, EstimableEndpoint] => [name, { hasAnswer: false }]),
]);
