/**
 * Pictures that are billed by the piece, counted in the answer: Imagen's `predictions` and the `data` of image
 * endpoints that report no tokens. Sources: Gemini API, Imagen; Together, image generation; November 2026.
 */
import type { JsonValue, UsageReading } from '../token-usage.ts';
import { withErrorMember } from './error-reading.ts';
import { isObject, readArray, readName } from './json-reading.ts';
import { createDraft, withContext, withTerminal, withUsage } from './reading.ts';
import type { Shape } from './shape.ts';

/** A picture that was filtered out is not billed: it says why, and has no bytes. */
function isPicture(item: JsonValue): boolean {
  return isObject(item) && readName(item, 'raiFilteredReason') === null;
}

function readJson(body: JsonValue, reading: UsageReading): UsageReading {
  if (!isObject(body)) return withTerminal(reading);
  const list = [body['predictions'], body['data']].find(Array.isArray);
  const name = list === body['predictions'] ? 'predictions' : 'data';
  const pictures = readArray(body, name).filter(isPicture).length;
  const counted = withUsage(reading, list === undefined ? undefined : { [name]: pictures }, () => {
    const draft = createDraft();
    draft.set('output_images', pictures);
    return draft.done(null);
  });
  return withTerminal(withErrorMember(withContext(counted, { model: readName(body, 'model') }), body));
}

export const imageCount: Shape = {
  name: 'image-count',
  countsElements: true,
  readJson,
  mayMatter: () => false,
  readEvent: (_eventType, _data, reading) => reading,
  doneText: null,
};
