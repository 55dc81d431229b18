/**
 * Writes the binary answers of `fixtures/bedrock`: AWS event-stream frames, as ConverseStream sends them. Run it by hand
 * after a change of the texts below; the files are kept, so that tests and the demo need no encoder.
 */
import { writeFileSync } from 'node:fs';
import { EventStreamCodec } from '@smithy/eventstream-codec';

const codec = new EventStreamCodec(
  (bytes) => Buffer.from(bytes).toString('utf8'),
  (text) => Buffer.from(text, 'utf8'),
);

function frame(headers, payload) {
  const typed = Object.entries({ ...headers, ':content-type': 'application/json' }).map(([name, value]) => [
    name,
    { type: 'string', value },
  ]);
  return codec.encode({ headers: Object.fromEntries(typed), body: Buffer.from(JSON.stringify(payload)) });
}

const event = (type, payload) => frame({ ':event-type': type, ':message-type': 'event' }, payload);
const exception = (type, payload) => frame({ ':exception-type': type, ':message-type': 'exception' }, payload);
// `p` is padding of varying length, which hides the length of the text.
const delta = (text, p) => event('contentBlockDelta', { contentBlockIndex: 0, delta: { text }, p });

const opening = [
  event('messageStart', { p: 'abcdefg', role: 'assistant' }),
  delta('Tollgate demo: ', 'abc'),
  delta('frames instead of lines, ', 'abcdefghijkl'),
];

const answers = {
  'converse-stream': [
    ...opening,
    delta('数え間違いなし ', 'a'),
    delta('🌊.', 'abcdefgh'),
    event('contentBlockStop', { contentBlockIndex: 0, p: 'abcd' }),
    event('messageStop', { p: 'abcdefghij', stopReason: 'end_turn' }),
    event('metadata', {
      metrics: { latencyMs: 904 },
      p: 'ab',
      serviceTier: { type: 'default' },
      usage: {
        cacheDetails: [{ inputTokens: 256, ttl: '5m' }],
        cacheReadInputTokens: 1024,
        cacheWriteInputTokens: 256,
        inputTokens: 15,
        outputTokens: 33,
        totalTokens: 1328,
      },
    }),
  ],
  'converse-stream-exception': [
    ...opening,
    exception('throttlingException', { message: 'Too many tokens, please wait before trying again.' }),
  ],
};

for (const [name, frames] of Object.entries(answers)) {
  writeFileSync(new URL(`../fixtures/bedrock/${name}.response.bin`, import.meta.url), Buffer.concat(frames));
}
