/** Tokens of OpenAI's image models: the images API, a response's image tool, SVG drawings. */
import type { JsonObject, JsonValue, OtherUsage } from '../../vocabulary/token-usage.ts';
import { setInput } from './modalities.ts';
import { normaliseOpenAi, RESPONSES_NAMES, setOutput } from './openai-usage.ts';
import { isObject, readCount, readName, readObject } from './read-json.ts';
import { createDraft, type Normalised, UNNAMED_MODEL } from './reported-usage.ts';

/** Output without a split is image tokens. */
export function normaliseImageUsage(native: JsonObject): Normalised {
  const draft = createDraft();
  const total = readCount(native, 'input_tokens');
  const details = readObject(native, 'input_tokens_details');
  const image = readCount(details, 'image_tokens');
  const cachedDetails = readObject(native, 'cached_tokens_details');
  const cachedImage = readCount(cachedDetails, 'cached_image_tokens');
  if (total !== null)
    setInput(draft, {
      total,
      cached: readCount(native, 'cached_tokens') ?? readCount(details, 'cached_tokens'),
      parts: image === null ? {} : { image },
      cachedParts: cachedImage === null ? null : { image: cachedImage },
    });
  const output = readCount(native, 'output_tokens');
  setOutput(draft, output, readObject(native, 'output_tokens_details'), true);
  draft.expectBoth(total, output);
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

export function createPictures(pictures: number, model: string | null): OtherUsage {
  return { purpose: 'image_generation', model: model ?? UNNAMED_MODEL, classes: { output_images: pictures } };
}

/** `svg_usage`: the tokens of a text model that it names. */
export function normaliseSvg(native: JsonValue | undefined): OtherUsage | null {
  if (!isObject(native)) return null;
  const { classes } = normaliseOpenAi(native, RESPONSES_NAMES, {});
  return isUsed(classes) ? { purpose: 'svg', model: readName(native, 'model') ?? UNNAMED_MODEL, classes } : null;
}
