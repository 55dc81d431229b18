/**
 * An answer of Bedrock's `invoke-with-response-stream`: the events of a recorded Anthropic stream, each as a chunk in a
 * frame of AWS's event stream (Bedrock API reference, InvokeModelWithResponseStream).
 */
import { EventStreamCodec } from '@smithy/eventstream-codec';
import type { Answer } from '../support/fake-provider.ts';
import { listFixtures } from '../support/fixtures.ts';
import { buildAnswer } from '../support/scripted-answer.ts';

const codec = new EventStreamCodec(
  (bytes) => Buffer.from(bytes).toString('utf8'),
  (text) => Buffer.from(text, 'utf8'),
);

export function answerInvokeStream(anthropicFixture: string): Answer {
  const fixture = listFixtures().find(({ provider, name }) => provider === 'anthropic' && name === anthropicFixture);
  const frames = [...(fixture?.body.toString('utf8') ?? '').matchAll(/^data: (.*)$/gm)].map(([, event = '']) =>
    codec.encode({
      headers: {
        ':event-type': { type: 'string', value: 'chunk' },
        ':content-type': { type: 'string', value: 'application/json' },
        ':message-type': { type: 'string', value: 'event' },
      },
      body: Buffer.from(JSON.stringify({ bytes: Buffer.from(event).toString('base64') })),
    }),
  );
  return buildAnswer({
    headers: [
      ['content-type', 'application/vnd.amazon.eventstream'],
      ['x-amzn-requestid', 'req_invoke_stream'],
    ],
    framing: 'chunked',
    body: Buffer.concat(frames),
    cuts: [100, 1_000],
  });
}
