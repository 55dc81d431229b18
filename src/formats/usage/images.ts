/** OpenAI's images API, as JSON or a stream. Pictures are counted for models that report no tokens. */
import type { JsonObject, JsonValue, ReportedUsage } from '../../vocabulary/token-usage.ts';
import { createEventTest, ERROR_PATTERN, USAGE_PATTERN } from './event-test.ts';
import { normaliseImageUsage, normaliseSvg } from './image-usage.ts';
import { withError, withErrorMember } from './read-error.ts';
import { isObject, readArray, readCount, readName, readObject } from './read-json.ts';
import {
  type Normalised,
  normaliseCount,
  withContext,
  withIncomplete,
  withTerminal,
  withUsage,
} from './reported-usage.ts';
import type { UsageFormat } from './usage-format.ts';

const TERMINAL_EVENTS: readonly string[] = ['image_generation.completed', 'image_edit.completed'];
const TERMINAL_PATTERN = String.raw`"type"\s*:\s*"image_(?:generation|edit)\.completed"`;

function normaliseTokens(native: JsonObject): Normalised {
  const own = normaliseImageUsage(native);
  const drawing = normaliseSvg(native['svg_usage']);
  return { ...own, others: drawing.others, isIncomplete: own.isIncomplete === true || drawing.isIncomplete };
}

function normalisePictures(native: JsonObject): Normalised {
  return normaliseCount('output_images', readCount(native, 'output_images'));
}

function withTokensOrPictures(reported: ReportedUsage, body: JsonObject): ReportedUsage {
  const usage = readObject(body, 'usage');
  const drawing = readObject(body, 'svg_usage');
  if (usage !== null || drawing !== null)
    return withUsage(reported, { ...usage, ...(drawing === null ? {} : { svg_usage: drawing }) }, normaliseTokens);
  const pictures = readArray(body, 'data').length;
  return pictures === 0 ? reported : withUsage(reported, { output_images: pictures }, normalisePictures);
}

function readBody(body: JsonObject, reported: ReportedUsage): ReportedUsage {
  const seen = withContext(withTokensOrPictures(reported, body), { model: readName(body, 'model') });
  return withErrorMember(seen, body);
}

function readEvent(eventType: string | null, data: JsonValue, reported: ReportedUsage): ReportedUsage {
  if (!isObject(data)) return reported;
  const type = readName(data, 'type') ?? eventType ?? '';
  const seen = readBody(data, reported);
  if (type === 'error' && seen.error === reported.error)
    return withError(seen, readName(data, 'code'), data['message']);
  if (!TERMINAL_EVENTS.includes(type)) return seen;
  // Each of several pictures has a count, and it is unclear whether they add up.
  return reported.terminal ? withIncomplete(seen) : withTerminal(seen);
}

export const images: UsageFormat = {
  name: 'images',
  readJson: (body, reported) => withTerminal(isObject(body) ? readBody(body, reported) : reported),
  mayMatter: createEventTest(USAGE_PATTERN, ERROR_PATTERN, TERMINAL_PATTERN),
  readEvent,
  doneText: '[DONE]',
  hasLastEvent: true,
};
