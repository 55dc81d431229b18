/** Imagen's pictures, billed by the piece. Source: Gemini API reference, `models.predict`, November 2026. */
import type { JsonValue, ReportedUsage } from '../../vocabulary/token-usage.ts';
import { withErrorMember } from './read-error.ts';
import { isObject, readArray, readName } from './read-json.ts';
import { normaliseCount, withTerminal, withUsage } from './reported-usage.ts';
import { createWholeAnswer } from './whole-answer.ts';

/** A filtered picture has a reason instead of bytes and is not billed. Large elements are not inspected. */
function isPicture(item: JsonValue): boolean {
  return readName(item, 'raiFilteredReason') === null;
}

function readJson(body: JsonValue, reported: ReportedUsage): ReportedUsage {
  if (!isObject(body) || !Array.isArray(body['predictions'])) return withTerminal(withErrorMember(reported, body));
  const pictures = readArray(body, 'predictions').filter(isPicture).length;
  const seen = withUsage(reported, { output_images: pictures }, () => normaliseCount('output_images', pictures));
  return withTerminal(seen);
}

export const imagen = createWholeAnswer('imagen', readJson);
