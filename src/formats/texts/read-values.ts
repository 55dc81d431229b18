/** The JSON values that a body is made of: the whole, or the events, frames, elements or lines of a stream. */
import type { JsonObject, JsonValue } from '../../vocabulary/token-usage.ts';
import { createFraming } from '../usage/framing.ts';
import { isObject, parseJson } from '../usage/read-json.ts';
import { skipSpace } from '../wire/json-scan.ts';
import { parseCutJson } from './parse-cut-json.ts';

const LINES_TYPE = 'application/x-ndjson';
const NEWLINE = 10;
const OPENING_BRACE = 123;

/** Whatever its type says: results of batches come as `application/octet-stream`, and as JSON. */
export function areJsonLines(body: Buffer): boolean {
  const start = skipSpace(body, 0);
  if (body[start] !== OPENING_BRACE) return false;
  const end = body.indexOf(NEWLINE, start);
  if (end === -1 || body[skipSpace(body, end)] !== OPENING_BRACE) return false;
  return isObject(parseJson(body.subarray(start, end)));
}

/**
 * Calls `onValue` with each object in order; one that is cut is read as far as it goes. Returns false for a body that is
 * none of these, such as sound.
 */
export function readValues(
  body: Buffer,
  contentType: string | null,
  onValue: (value: JsonObject, isStream: boolean) => void,
): boolean {
  const read = (value: JsonValue | undefined, isStream: boolean): void => {
    if (isObject(value)) onValue(value, isStream);
  };
  const framing = createFraming(
    areJsonLines(body) ? LINES_TYPE : contentType,
    // The body is in memory and all its text counts, so nothing is thinned.
    { canBeArray: true, areLines: false, largeBytes: Number.POSITIVE_INFINITY },
    {
      onEvent: (_type, data) => read(parseJson(data) ?? parseCutJson(data.toString('utf8')), true),
      onFrame: ({ messageType, payload }) => {
        if (messageType === 'event') read(parseJson(payload), true);
      },
      onBody: (whole) => read(parseJson(whole) ?? parseCutJson(whole.toString('utf8')), false),
      onClosed: () => {},
      onProblem: () => {},
    },
  );
  if (framing === null) return false;
  framing.push(body);
  framing.finish();
  return true;
}
