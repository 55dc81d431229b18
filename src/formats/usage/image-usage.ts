/** Tokens of OpenAI's image models: the images API, a response's image tool, SVG drawings. */
import type { JsonObject, JsonValue, OtherUsage } from '../../vocabulary/token-usage.ts';
import { setInput } from './modalities.ts';
import { normaliseOpenAi, RESPONSES_NAMES, setOutput } from './openai-usage.ts';
import { isObject, readCount, readName, readObject } from './read-json.ts';
import { createDraft, type Normalised, normaliseCount, UNNAMED_MODEL } from './reported-usage.ts';

/** Output without a split is image tokens; input without one may be text, pictures or both. */
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
  const isSplit = image !== null || readCount(details, 'text_tokens') !== null;
  if (total !== null && total > 0 && !isSplit) draft.lack();
  const output = readCount(native, 'output_tokens');
  setOutput(draft, output, readObject(native, 'output_tokens_details'), true);
  draft.expectBoth(total, output);
  return draft.done(null);
}

/** What was drawn beside a text answer. */
export interface Drawn {
  /** Empty when nothing was drawn. */
  readonly others: readonly OtherUsage[];
  /** As in `TokenUsage`. */
  readonly isIncomplete: boolean;
}

export const NOTHING_DRAWN: Drawn = { others: [], isIncomplete: false };

function createDrawn(purpose: string, model: string | null, { classes, isIncomplete = false }: Normalised): Drawn {
  const isUsed = Object.values(classes).some((quantity) => quantity > 0);
  return isUsed ? { others: [{ purpose, model: model ?? UNNAMED_MODEL, classes }], isIncomplete } : NOTHING_DRAWN;
}

/** `tool_usage.image_gen`. */
export function normaliseImageTool(native: JsonObject, model: string | null): Drawn {
  return createDrawn('image_generation', model, normaliseImageUsage(native));
}

export function createPictures(pictures: number, model: string | null): Drawn {
  return createDrawn('image_generation', model, normaliseCount('output_images', pictures));
}

/** `svg_usage`: the tokens of a text model that it names. */
export function normaliseSvg(native: JsonValue | undefined): Drawn {
  if (!isObject(native)) return NOTHING_DRAWN;
  return createDrawn('svg', readName(native, 'model'), normaliseOpenAi(native, RESPONSES_NAMES, {}));
}
