/**
 * Writes the binary answers of `fixtures/bedrock`: AWS event-stream frames, as ConverseStream and
 * InvokeModelWithResponseStream send them. Run it by hand after a change of the texts below; the files are kept, so that
 * tests and the demo need no encoder.
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

// An invoke stream wraps the model's own events.
const chunk = (own, p) => event('chunk', { bytes: Buffer.from(JSON.stringify(own)).toString('base64'), p });
const metrics = (inputTokenCount, outputTokenCount, cache = {}) => ({
  'amazon-bedrock-invocationMetrics': {
    inputTokenCount,
    outputTokenCount,
    invocationLatency: 912,
    firstByteLatency: 240,
    ...cache,
  },
});

const claudeOpening = [
  chunk(
    {
      type: 'message_start',
      message: {
        model: 'claude-haiku-4-5-20251001',
        id: 'msg_bdrk_demo2',
        type: 'message',
        role: 'assistant',
        content: [],
        stop_reason: null,
        usage: {
          input_tokens: 15,
          cache_creation_input_tokens: 256,
          cache_read_input_tokens: 1024,
          cache_creation: { ephemeral_5m_input_tokens: 256, ephemeral_1h_input_tokens: 0 },
          output_tokens: 1,
        },
      },
    },
    'abc',
  ),
  chunk({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }, 'abcdefg'),
  chunk({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Tollgate demo: 数える' } }, 'a'),
];

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
  // Input with what was written to the cache inside, which the total gives away.
  'converse-stream-odd-inclusive': [
    ...opening,
    event('messageStop', { p: 'abc', stopReason: 'end_turn' }),
    event('metadata', {
      metrics: { latencyMs: 640 },
      p: 'abcd',
      usage: {
        cacheReadInputTokens: 0,
        cacheWriteInputTokens: 4993,
        inputTokens: 4995,
        outputTokens: 10,
        totalTokens: 5005,
      },
    }),
  ],
  'converse-stream-odd-checksum': [
    ...opening,
    event('messageStop', { p: 'abc', stopReason: 'end_turn' }),
    flipBit(event('metadata', { p: 'ab', usage: { inputTokens: 15, outputTokens: 33, totalTokens: 48 } })),
  ],
  'invoke-claude-stream': [
    ...claudeOpening,
    chunk({ type: 'content_block_stop', index: 0 }, 'abcdefghi'),
    chunk({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 33 } }, 'ab'),
    chunk(
      {
        type: 'message_stop',
        ...metrics(15, 33, { cacheReadInputTokenCount: 1024, cacheWriteInputTokenCount: 256 }),
      },
      'abcde',
    ),
  ],
  'invoke-stream-exception': [
    ...claudeOpening,
    exception('modelStreamErrorException', { message: 'The model could not go on.', originalStatusCode: 500 }),
  ],
  'invoke-nova-stream': [
    chunk({ messageStart: { role: 'assistant' } }, 'abc'),
    chunk({ contentBlockDelta: { delta: { text: 'Tollgate demo: ' }, contentBlockIndex: 0 } }, 'ab'),
    chunk({ contentBlockDelta: { delta: { text: 'Nova counts in camel case.' }, contentBlockIndex: 0 } }, 'abcd'),
    chunk({ contentBlockStop: { contentBlockIndex: 0 } }, 'a'),
    chunk({ messageStop: { stopReason: 'end_turn' } }, 'abcdef'),
    chunk(
      {
        metadata: {
          usage: {
            inputTokens: 7,
            outputTokens: 18,
            totalTokens: 25,
            cacheReadInputTokenCount: 0,
            cacheWriteInputTokenCount: 0,
          },
          metrics: {},
          trace: {},
        },
        ...metrics(7, 18, { cacheReadInputTokenCount: 0, cacheWriteInputTokenCount: 0 }),
      },
      'abc',
    ),
  ],
  // Ends between two frames, before the last one.
  'invoke-llama-cut-stream': [
    chunk({ generation: 'Toll', prompt_token_count: 25, generation_token_count: 1, stop_reason: null }, 'ab'),
    chunk({ generation: 'gate', prompt_token_count: null, generation_token_count: 2, stop_reason: null }, 'abcd'),
  ],
};

/** One bit of the payload, so that the frame's checksum is wrong. */
function flipBit(frame) {
  const broken = Buffer.from(frame);
  const at = broken.indexOf('"outputTokens":33') + '"outputTokens":3'.length;
  broken.writeUInt8(broken.readUInt8(at) ^ 1, at);
  return broken;
}

for (const [name, frames] of Object.entries(answers)) {
  writeFileSync(new URL(`../fixtures/bedrock/${name}.response.bin`, import.meta.url), Buffer.concat(frames));
}
