/** OpenAI's audio API. Plain-text transcriptions and unstreamed speech report no usage. */

import type { UsageFormatName } from '../../providers/format-names.ts';
import type { JsonObject, JsonValue, ReportedUsage } from '../../vocabulary/token-usage.ts';
import { createEventTest, ERROR_PATTERN, USAGE_PATTERN } from './event-test.ts';
import { normaliseOpenAi, RESPONSES_NAMES } from './openai-usage.ts';
import { withError, withErrorMember } from './read-error.ts';
import { isObject, readCount, readName } from './read-json.ts';
import { createDraft, type Normalised, withContext, withTerminal, withUsage } from './reported-usage.ts';
import type { UsageFormat } from './usage-format.ts';

const TERMINAL_EVENTS: readonly string[] = ['transcript.text.done', 'speech.audio.done'];
const TERMINAL_PATTERN = String.raw`"type"\s*:\s*"(?:transcript\.text|speech\.audio)\.done"`;

/** Shifts the decimal text, since a product of floats could round to the other side. Half a millisecond rounds up. */
function toMilliseconds(seconds: number): number {
  const shifted = Number(`${seconds}e3`);
  return Math.round(Number.isNaN(shifted) ? seconds * 1000 : shifted);
}

function normaliseTranscription(native: JsonObject): Normalised {
  const seconds = readCount(native, 'seconds');
  const duration = readCount(native, 'duration');
  if (seconds === null && duration === null) return normaliseOpenAi(native, RESPONSES_NAMES, {});
  const draft = createDraft();
  // An exact duration is billed by the second begun, as the API counts it elsewhere.
  draft.set('input_audio_ms', toMilliseconds(seconds ?? Math.ceil(duration ?? 0)));
  return draft.done(null);
}

function normaliseSpeech(native: JsonObject): Normalised {
  const { classes, ...rest } = normaliseOpenAi(native, RESPONSES_NAMES, {});
  const { output, ...input } = classes;
  return { ...rest, classes: output === undefined ? input : { ...input, output_audio: output } };
}

function createAudioFormat(name: UsageFormatName, normalise: (native: JsonObject) => Normalised): UsageFormat {
  function readBody(body: JsonObject, reported: ReportedUsage): ReportedUsage {
    const duration = readCount(body, 'duration');
    const usageObject = body['usage'] ?? (duration === null ? undefined : { duration });
    const seen = withUsage(reported, usageObject, normalise);
    return withErrorMember(withContext(seen, { model: readName(body, 'model') }), body);
  }

  function readEvent(eventType: string | null, data: JsonValue, reported: ReportedUsage): ReportedUsage {
    if (!isObject(data)) return reported;
    const type = readName(data, 'type') ?? eventType ?? '';
    const seen = readBody(data, reported);
    if (type === 'error' && seen.error === reported.error)
      return withError(seen, readName(data, 'code'), data['message']);
    return TERMINAL_EVENTS.includes(type) ? withTerminal(seen) : seen;
  }

  return {
    name,
    readJson: (body, reported) => withTerminal(isObject(body) ? readBody(body, reported) : reported),
    mayMatter: createEventTest(USAGE_PATTERN, ERROR_PATTERN, TERMINAL_PATTERN),
    readEvent,
    doneText: '[DONE]',
    hasLastEvent: true,
  };
}

export const transcriptions: UsageFormat = createAudioFormat('transcriptions', normaliseTranscription);
export const speech: UsageFormat = createAudioFormat('speech', normaliseSpeech);
