/**
 * Tokens of OpenAI's image models: those of the images API, of the image tool within a response, and of the model that
 * writes drawings as SVG. The tool's and the drawings' are another model's than the answer's.
 */
import type { JsonObject, JsonValue, OtherUsage } from '../token-usage.ts';
import { isObject, readCount, readName, readObject } from './json-reading.ts';
import { setInput } from './modalities.ts';
import { normaliseOpenAi, RESPONSES_NAMES, setOutput } from './openai-usage.ts';
import { createDraft, type Normalised } from './reading.ts';

/** Stands where the answer does not say which model drew: no price is known for it, and none may be guessed. */
const UNNAMED_MODEL = 'unknown';

/** Text and images in and out; output that is not told apart is image tokens. */
export function normaliseImageUsage(native: JsonObject): Normalised {
  const draft = createDraft();
  const total = readCount(native, 'input_tokens');
  const details = readObject(native, 'input_tokens_details') ?? undefined;
  const image = readCount(details, 'image_tokens');
  const cachedDetails = readObject(native, 'cached_tokens_details');
  const cachedImage = readCount(cachedDetails ?? undefined, 'cached_image_tokens');
  if (total !== null)
    setInput(draft, {
      total,
      cached: readCount(native, 'cached_tokens') ?? readCount(details, 'cached_tokens'),
      written: null,
      parts: image === null ? {} : { image },
      cachedParts: cachedImage === null ? null : { image: cachedImage },
      extra: 0,
      extraParts: {},
    });
  setOutput(draft, readCount(native, 'output_tokens'), readObject(native, 'output_tokens_details') ?? undefined, true);
  return draft.done(null);
}

function isUsed(classes: OtherUsage['classes']): boolean {
  return Object.values(classes).some((quantity) => quantity > 0);
}

/** `tool_usage.image_gen`; null when no image was made. */
export function normaliseImageTool(native: JsonObject | null, model: string | null): OtherUsage | null {
  if (native === null) return null;
  const { classes } = normaliseImageUsage(native);
  return isUsed(classes) ? { purpose: 'image_generation', model: model ?? UNNAMED_MODEL, classes } : null;
}

/** Pictures whose tokens nobody reports. */
export function createPictures(pictures: number, model: string | null): OtherUsage {
  return { purpose: 'image_generation', model: model ?? UNNAMED_MODEL, classes: { output_images: pictures } };
}

/** `svg_usage`: the tokens of a text model, which it names. */
export function normaliseSvg(native: JsonValue | undefined): OtherUsage | null {
  if (!isObject(native)) return null;
  const { classes } = normaliseOpenAi(native, RESPONSES_NAMES, {});
  return isUsed(classes) ? { purpose: 'svg', model: readName(native, 'model') ?? UNNAMED_MODEL, classes } : null;
}
