/**
 * OpenAI's images API: generations, edits and variations, as JSON or as a stream that ends with the finished picture.
 * Models that report no tokens are billed by the picture, so those are counted.
 */
import type { JsonObject, JsonValue, UsageReading } from '../token-usage.ts';
import { withError, withErrorMember } from './error-reading.ts';
import { createEventTest, ERROR_PATTERN, USAGE_PATTERN } from './event-test.ts';
import { normaliseImageUsage, normaliseSvg } from './image-usage.ts';
import { isObject, readArray, readCount, readName, readObject } from './json-reading.ts';
import { type Normalised, normaliseCount, withContext, withIncomplete, withTerminal, withUsage } from './reading.ts';
import type { Shape } from './shape.ts';

const TERMINAL_EVENTS: readonly string[] = ['image_generation.completed', 'image_edit.completed'];
const TERMINAL_PATTERN = String.raw`"type"\s*:\s*"image_(?:generation|edit)\.completed"`;

function normaliseTokens(native: JsonObject): Normalised {
  const drawing = normaliseSvg(native['svg_usage']);
  return { ...normaliseImageUsage(native), others: drawing === null ? [] : [drawing] };
}

function normalisePictures(native: JsonObject): Normalised {
  return normaliseCount('output_images', readCount(native, 'output_images'));
}

function withTokensOrPictures(reading: UsageReading, body: JsonObject): UsageReading {
  const usage = readObject(body, 'usage');
  const drawing = readObject(body, 'svg_usage');
  if (usage !== null || drawing !== null)
    return withUsage(reading, { ...usage, ...(drawing === null ? {} : { svg_usage: drawing }) }, normaliseTokens);
  const pictures = readArray(body, 'data').length;
  return pictures === 0 ? reading : withUsage(reading, { output_images: pictures }, normalisePictures);
}

function readBody(body: JsonObject, reading: UsageReading): UsageReading {
  const seen = withContext(withTokensOrPictures(reading, body), { model: readName(body, 'model') });
  return withErrorMember(seen, body);
}

function readEvent(eventType: string | null, data: JsonValue, reading: UsageReading): UsageReading {
  if (!isObject(data)) return reading;
  const type = readName(data, 'type') ?? eventType ?? '';
  const seen = readBody(data, reading);
  if (type === 'error' && seen.error === reading.error) return withError(seen, readName(data, 'code'), data['message']);
  if (!TERMINAL_EVENTS.includes(type)) return seen;
  // Of several pictures each has a count, and nobody says whether they add up.
  return reading.terminal ? withIncomplete(seen) : withTerminal(seen);
}

export const images: Shape = {
  name: 'images',
  readJson: (body, reading) => withTerminal(isObject(body) ? readBody(body, reading) : reading),
  mayMatter: createEventTest(USAGE_PATTERN, ERROR_PATTERN, TERMINAL_PATTERN),
  readEvent,
  doneText: '[DONE]',
  hasLastEvent: true,
};
