/**
 * Pictures as a request asks for them, for models that are billed by the picture, its size and its quality, and whose
 * answers say none of it. It reads no bytes and knows no prices. Source: OpenAI's API reference, Images, "Create image".
 */
import type { JsonValue, TokenUsage } from '../token-usage.ts';

/** The members of a request, or the fields of its form; undefined where it does not have them. */
export interface AskedPictures {
  readonly n: JsonValue | undefined;
  readonly size: JsonValue | undefined;
  readonly quality: JsonValue | undefined;
}

/** What is longer is no size and no quality. */
const MAX_TEXT_CHARACTERS = 32;
/** In a form it is text. No API makes as many at once. */
const COUNT_TEXT = /^[1-9]\d{0,2}$/;
/** Without `n` it is one. */
const DEFAULT_COUNT = 1;

function isLeftOut(value: JsonValue | undefined): value is null | undefined {
  return value === undefined || value === null;
}

/** Null: left to the API. Undefined: it is there, and says nothing that has a price. */
function readText(value: JsonValue | undefined): string | null | undefined {
  if (isLeftOut(value)) return null;
  return typeof value === 'string' && value !== '' && value.length <= MAX_TEXT_CHARACTERS ? value : undefined;
}

function readCount(n: JsonValue | undefined): number | null {
  if (isLeftOut(n)) return DEFAULT_COUNT;
  return (typeof n === 'number' || typeof n === 'string') && COUNT_TEXT.test(String(n)) ? Number(n) : null;
}

/** Null when the request does not say clearly what it asks for. Without a class when it does not say how many. */
export function createSentPictures({ n, size, quality }: AskedPictures): TokenUsage | null {
  const pictures = { size: readText(size), quality: readText(quality) };
  if (pictures.size === undefined || pictures.quality === undefined) return null;
  const count = readCount(n);
  return {
    classes: count === null ? {} : { output_images: count },
    reasoning: null,
    pictures: { size: pictures.size, quality: pictures.quality },
    native: { n: count, size: pictures.size, quality: pictures.quality },
  };
}
