/**
 * The pictures of Imagen, which are billed by the piece and counted in the answer. Source: Gemini API reference,
 * `models.predict`, November 2026.
 */
import type { JsonValue, UsageReading } from '../token-usage.ts';
import { withErrorMember } from './error-reading.ts';
import { isObject, readArray, readName } from './json-reading.ts';
import { createDraft, withTerminal, withUsage } from './reading.ts';
import type { Shape } from './shape.ts';

/** One that was filtered out is not billed: it says why, and has no bytes. Large elements are not looked into. */
function isPicture(item: JsonValue): boolean {
  return readName(item, 'raiFilteredReason') === null;
}

function readJson(body: JsonValue, reading: UsageReading): UsageReading {
  if (!isObject(body) || !Array.isArray(body['predictions'])) return withTerminal(withErrorMember(reading, body));
  const pictures = readArray(body, 'predictions').filter(isPicture).length;
  const seen = withUsage(reading, { output_images: pictures }, () => {
    const draft = createDraft();
    draft.set('output_images', pictures);
    return draft.done(null);
  });
  return withTerminal(seen);
}

export const imagen: Shape = {
  name: 'imagen',
  countsElements: true,
  readJson,
  mayMatter: () => false,
  readEvent: (_eventType, _data, reading) => reading,
  doneText: null,
};
