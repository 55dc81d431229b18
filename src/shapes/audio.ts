/**
 * OpenAI's audio API. Transcriptions and translations report tokens, or the length of the sound, in a JSON answer or in
 * a stream's last event, and nothing when the answer is plain text. Speech reports only in a stream; its output is
 * sound.
 */
import type { JsonObject, JsonValue, UsageReading } from '../token-usage.ts';
import { withError, withErrorMember } from './error-reading.ts';
import { createEventTest, ERROR_PATTERN, USAGE_PATTERN } from './event-test.ts';
import { isObject, readCount, readName } from './json-reading.ts';
import { normaliseOpenAi, RESPONSES_NAMES } from './openai-usage.ts';
import { createDraft, type Normalised, withContext, withTerminal, withUsage } from './reading.ts';
import type { Shape, ShapeName } from './shape.ts';

const TERMINAL_EVENTS: readonly string[] = ['transcript.text.done', 'speech.audio.done'];
const TERMINAL_PATTERN = String.raw`"type"\s*:\s*"(?:transcript\.text|speech\.audio)\.done"`;

/** Half a millisecond counts as one. Shifted as a decimal: the product of two floats could fall on the other side. */
function toMilliseconds(seconds: number): number {
  const shifted = Number(`${seconds}e3`);
  return Math.round(Number.isNaN(shifted) ? seconds * 1000 : shifted);
}

function normaliseTranscription(native: JsonObject): Normalised {
  const seconds = readCount(native, 'seconds');
  const duration = readCount(native, 'duration');
  if (seconds === null && duration === null) return normaliseOpenAi(native, RESPONSES_NAMES, {});
  const draft = createDraft();
  // Where only the exact length is given it is billed as the API counts it elsewhere: by the second begun.
  draft.set('input_audio_ms', toMilliseconds(seconds ?? Math.ceil(duration ?? 0)));
  return draft.done(null);
}

function normaliseSpeech(native: JsonObject): Normalised {
  const { classes, ...rest } = normaliseOpenAi(native, RESPONSES_NAMES, {});
  const { output, ...input } = classes;
  return { ...rest, classes: output === undefined ? input : { ...input, output_audio: output } };
}

function createAudioShape(name: ShapeName, normalise: (native: JsonObject) => Normalised): Shape {
  function readBody(body: JsonObject, reading: UsageReading): UsageReading {
    const duration = readCount(body, 'duration');
    const reported = body['usage'] ?? (duration === null ? undefined : { duration });
    const seen = withUsage(reading, reported, normalise);
    return withErrorMember(withContext(seen, { model: readName(body, 'model') }), body);
  }

  function readEvent(eventType: string | null, data: JsonValue, reading: UsageReading): UsageReading {
    if (!isObject(data)) return reading;
    const type = readName(data, 'type') ?? eventType ?? '';
    const seen = readBody(data, reading);
    if (type === 'error' && seen.error === reading.error)
      return withError(seen, readName(data, 'code'), data['message']);
    return TERMINAL_EVENTS.includes(type) ? withTerminal(seen) : seen;
  }

  return {
    name,
    readJson: (body, reading) => withTerminal(isObject(body) ? readBody(body, reading) : reading),
    mayMatter: createEventTest(USAGE_PATTERN, ERROR_PATTERN, TERMINAL_PATTERN),
    readEvent,
    doneText: '[DONE]',
    hasLastEvent: true,
  };
}

export const transcriptions: Shape = createAudioShape('transcriptions', normaliseTranscription);
export const speech: Shape = createAudioShape('speech', normaliseSpeech);
