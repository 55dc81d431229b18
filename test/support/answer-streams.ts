/**
 * Whole answers rewritten as the streams in which the same endpoints send them: the usage stands where the provider puts
 * it in a stream, and the parts of a stream that have no influence on it are there once.
 */
import { EventStreamCodec } from '@smithy/eventstream-codec';
import { isObject, readObject } from '../../src/formats/usage/read-json.ts';
import type { UsageFormatName } from '../../src/providers/format-names.ts';
import type { JsonObject } from '../../src/vocabulary/token-usage.ts';

export interface StreamedAnswer {
  readonly contentType: 'text/event-stream' | 'application/vnd.amazon.eventstream';
  readonly body: Buffer;
}

const codec = new EventStreamCodec(
  (bytes) => Buffer.from(bytes).toString('utf8'),
  (text) => Buffer.from(text, 'utf8'),
);

function event(type: string | null, data: JsonObject): string {
  return `${type === null ? '' : `event: ${type}\n`}data: ${JSON.stringify(data)}\n\n`;
}

function typed(type: string, data: JsonObject): string {
  return event(type, { type, ...data });
}

function eventStream(...events: readonly string[]): StreamedAnswer {
  return { contentType: 'text/event-stream', body: Buffer.from(events.join('')) };
}

function frame(type: string, data: JsonObject): Uint8Array {
  return codec.encode({
    headers: {
      ':event-type': { type: 'string', value: type },
      ':content-type': { type: 'string', value: 'application/json' },
      ':message-type': { type: 'string', value: 'event' },
    },
    body: Buffer.from(JSON.stringify(data)),
  });
}

function frames(...list: readonly Uint8Array[]): StreamedAnswer {
  return { contentType: 'application/vnd.amazon.eventstream', body: Buffer.concat(list) };
}

/** Running totals: the first event has the prompt and a token of the answer, the last one everything of the answer. */
function messageEvents(message: JsonObject, usage: JsonObject): readonly JsonObject[] {
  const { input_tokens: _input, service_tier: _tier, inference_geo: _geo, ...later } = usage;
  return [
    { type: 'message_start', message: { ...message, usage: { ...usage, output_tokens: 1 } } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello' } },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: later },
    { type: 'message_stop' },
  ];
}

/** Null where an endpoint of this format, or with such an answer, does not stream. */
export function toStream(format: UsageFormatName, body: JsonObject): StreamedAnswer | null {
  const usage = readObject(body, 'usage') ?? {};
  switch (format) {
    case 'chat-completions': {
      const head = { ...body, object: 'chat.completion.chunk' };
      return eventStream(
        event(null, { ...head, choices: [{ index: 0, delta: { content: 'Hello' } }], usage: null }),
        event(null, { ...head, choices: [], usage }),
        'data: [DONE]\n\n',
      );
    }
    case 'responses': {
      const begun = { ...body, status: 'in_progress', output: [], usage: null };
      return eventStream(
        typed('response.created', { response: begun }),
        typed('response.output_text.delta', { delta: 'Hello' }),
        typed('response.completed', { response: body }),
      );
    }
    case 'messages':
      return eventStream(...messageEvents(body, usage).map((data) => event(String(data['type']), data)));
    case 'generate-content': {
      const whole = readObject(body, 'usageMetadata') ?? {};
      const { promptTokenCount = null, modelVersion = null } = { ...whole, ...body };
      const first = {
        candidates: [{ content: { parts: [{ text: 'Hello' }] } }],
        usageMetadata: { promptTokenCount, totalTokenCount: promptTokenCount },
        modelVersion,
      };
      const candidates = Array.isArray(body['candidates']) ? body['candidates'] : [];
      const ended = candidates.map((entry) => (isObject(entry) ? { ...entry, finishReason: 'STOP' } : entry));
      return eventStream(event(null, first), event(null, { ...body, candidates: ended }));
    }
    case 'converse': {
      // The terms stand beside the usage, in the stream's last event.
      const { output: _output, stopReason: _stop, ...terms } = body;
      return frames(
        frame('messageStart', { role: 'assistant' }),
        frame('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'Hello' } }),
        frame('messageStop', { stopReason: 'end_turn' }),
        frame('metadata', { ...terms, usage, metrics: { latencyMs: 100 } }),
      );
    }
    case 'invoke':
      if (!('input_tokens' in usage)) return null;
      return frames(
        ...messageEvents({ type: 'message' }, usage).map((data) =>
          frame('chunk', { bytes: Buffer.from(JSON.stringify(data)).toString('base64') }),
        ),
      );
    case 'images':
      if (Object.keys(usage).length === 0) return null;
      return eventStream(
        typed('image_edit.partial_image', { b64_json: 'aGVsbG8=', partial_image_index: 0 }),
        typed('image_edit.completed', { b64_json: 'aGVsbG8=', usage }),
      );
    case 'transcriptions':
      if ('seconds' in usage) return null;
      return eventStream(
        typed('transcript.text.delta', { delta: 'Hello' }),
        typed('transcript.text.done', { text: 'Hello', usage }),
      );
    default:
      return null;
  }
}
