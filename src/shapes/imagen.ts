/**
 * The pictures of Imagen, which are billed by the piece and counted in the answer. Source: Gemini API reference,
 * `models.predict`, November 2026.
 */
import type { JsonValue, UsageReading } from '../token-usage.ts';
import { withErrorMember } from './error-reading.ts';
import { isObject, readArray, readName } from './json-reading.ts';
import { normaliseCount, withTerminal, withUsage } from './reading.ts';
import { createWholeAnswer } from './whole-answer.ts';

/** One that was filtered out is not billed: it says why, and has no bytes. Large elements are not looked into. */
function isPicture(item: JsonValue): boolean {
  return readName(item, 'raiFilteredReason') === null;
}

function readJson(body: JsonValue, reading: UsageReading): UsageReading {
  if (!isObject(body) || !Array.isArray(body['predictions'])) return withTerminal(withErrorMember(reading, body));
  const pictures = readArray(body, 'predictions').filter(isPicture).length;
  const seen = withUsage(reading, { output_images: pictures }, () => normaliseCount('output_images', pictures));
  return withTerminal(seen);
}

export const imagen = createWholeAnswer('imagen', readJson);
