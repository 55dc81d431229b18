/** Pictures billed by size and quality, from the request. Source: OpenAI's API reference, "Create image". */
import type { JsonValue, TokenUsage } from '../../vocabulary/token-usage.ts';

/** Members of a JSON request or fields of a form; undefined where absent. */
export interface AskedPictures {
  readonly n: JsonValue | undefined;
  readonly size: JsonValue | undefined;
  readonly quality: JsonValue | undefined;
}

const MAX_TEXT_CHARACTERS = 32;
/** Forms send the number as text. */
const COUNT_TEXT = /^[1-9]\d{0,2}$/;
const DEFAULT_COUNT = 1;

function isLeftOut(value: JsonValue | undefined): value is null | undefined {
  return value === undefined || value === null;
}

/** Null: left to the API. Undefined: present without a priced meaning. */
function readText(value: JsonValue | undefined): string | null | undefined {
  if (isLeftOut(value)) return null;
  return typeof value === 'string' && value !== '' && value.length <= MAX_TEXT_CHARACTERS ? value : undefined;
}

function readCount(n: JsonValue | undefined): number | null {
  if (isLeftOut(n)) return DEFAULT_COUNT;
  return (typeof n === 'number' || typeof n === 'string') && COUNT_TEXT.test(String(n)) ? Number(n) : null;
}

/** Null when the request is unclear; without a class when the count is unknown. */
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
