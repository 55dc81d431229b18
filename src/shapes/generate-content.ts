/**
 * Google's generateContent format, and its Interactions. Thoughts and tool results stand beside the totals that one
 * would expect to include them. In streams every element reports running totals; there is no ending but the last
 * element's finish reason. Source: Gemini API reference, UsageMetadata and Interaction.Usage, November 2026.
 */
import type { JsonObject, JsonValue, UsageReading } from '../token-usage.ts';
import { withErrorMember } from './error-reading.ts';
import { createEventTest, ERROR_PATTERN, USAGE_PATTERN } from './event-test.ts';
import { isObject, readArray, readCount, readName, readObject } from './json-reading.ts';
import { type ByModality, setInput } from './modalities.ts';
import { createDraft, type Normalised, withContext, withTerminal, withUsage } from './reading.ts';
import type { Shape } from './shape.ts';

/** Where each count stands in the two formats. */
const GENERATE_NAMES = {
  input: 'promptTokenCount',
  cached: 'cachedContentTokenCount',
  toolUse: 'toolUsePromptTokenCount',
  output: 'candidatesTokenCount',
  thoughts: 'thoughtsTokenCount',
  total: 'totalTokenCount',
  inputDetails: 'promptTokensDetails',
  cachedDetails: 'cacheTokensDetails',
  toolUseDetails: 'toolUsePromptTokensDetails',
  outputDetails: 'candidatesTokensDetails',
  detailCount: 'tokenCount',
} as const;

const INTERACTION_NAMES = {
  input: 'total_input_tokens',
  cached: 'total_cached_tokens',
  toolUse: 'total_tool_use_tokens',
  output: 'total_output_tokens',
  thoughts: 'total_thought_tokens',
  total: 'total_tokens',
  inputDetails: 'input_tokens_by_modality',
  cachedDetails: 'cached_tokens_by_modality',
  toolUseDetails: 'tool_use_tokens_by_modality',
  outputDetails: 'output_tokens_by_modality',
  detailCount: 'tokens',
} as const;

/** Live sessions call the answer a response. */
const LIVE_NAMES = {
  ...GENERATE_NAMES,
  output: 'responseTokenCount',
  outputDetails: 'responseTokensDetails',
} as const;

type Names = { readonly [Key in keyof typeof GENERATE_NAMES]: string };

/** Tokens by modality; text and documents are priced as text and stay in the rest. */
function readModalities(native: JsonObject, name: string, countName: string): ByModality {
  const found: { audio?: number; image?: number; video?: number } = {};
  for (const item of readArray(native, name)) {
    const count = readCount(item, countName) ?? 0;
    switch (readName(item, 'modality')?.toLowerCase()) {
      case 'audio':
        found.audio = (found.audio ?? 0) + count;
        break;
      case 'image':
        found.image = (found.image ?? 0) + count;
        break;
      case 'video':
        found.video = (found.video ?? 0) + count;
        break;
      default:
    }
  }
  return found;
}

function normalise(native: JsonObject, names: Names, webSearches: number | null): Normalised {
  const draft = createDraft();
  const input = readCount(native, names.input);
  const toolUse = readCount(native, names.toolUse);
  const cached = readCount(native, names.cached);
  const thoughts = readCount(native, names.thoughts);
  const output = readCount(native, names.output) ?? readCount(native, 'responseTokenCount');
  if (input !== null || toolUse !== null) {
    setInput(draft, {
      total: input ?? 0,
      cached,
      written: null,
      parts: readModalities(native, names.inputDetails, names.detailCount),
      cachedParts:
        readArray(native, names.cachedDetails).length === 0
          ? null
          : readModalities(native, names.cachedDetails, names.detailCount),
      extra: toolUse ?? 0,
      extraParts: readModalities(native, names.toolUseDetails, names.detailCount),
    });
  }
  if (output !== null || thoughts !== null) {
    const parts = readModalities(native, names.outputDetails, names.detailCount);
    draft.set('output_audio', parts.audio ?? null);
    draft.set('output_image', parts.image ?? null);
    // Clamped before thoughts are added, so that thoughts never fill a gap of the visible output.
    const visible = (output ?? 0) - (parts.audio ?? 0) - (parts.image ?? 0);
    if (visible < 0) draft.remark();
    draft.set('output', Math.max(0, visible) + (thoughts ?? 0));
  }
  const total = readCount(native, names.total);
  const sum = (input ?? 0) + (toolUse ?? 0) + (output ?? 0) + (thoughts ?? 0);
  const counted = input !== null || output !== null;
  if (total !== null && counted && total !== sum) draft.remark();
  // Token counting reports a total and nothing else.
  if (total !== null && !counted && toolUse === null && thoughts === null) draft.set('input', total - (cached ?? 0));
  draft.set('web_search_requests', webSearches);
  return draft.done(thoughts);
}

/** The usage of one turn of a live session. */
export function normaliseLive(native: JsonObject, webSearches: number | null): Normalised {
  return normalise(native, LIVE_NAMES, webSearches);
}

function countQueries(body: JsonObject): number | null {
  const queries = readArray(body, 'candidates').reduce<number>((sum, candidate) => {
    return sum + readArray(readObject(candidate, 'groundingMetadata') ?? undefined, 'webSearchQueries').length;
  }, 0);
  return queries > 0 ? queries : null;
}

/** Grounding arrives on one element of a stream, usage on all: the largest count seen is kept. */
function larger(seen: number | undefined, now: number | null): number | null {
  if (seen === undefined) return now;
  return Math.max(seen, now ?? 0);
}

function readElement(body: JsonValue, reading: UsageReading): UsageReading {
  if (!isObject(body)) return reading;
  const metadata = readObject(body, 'usageMetadata');
  const searches = larger(reading.usage?.classes.web_search_requests, countQueries(body));
  const seen = withUsage(reading, metadata ?? undefined, (native) => normalise(native, GENERATE_NAMES, searches));
  const context = {
    model: readName(body, 'modelVersion'),
    serviceTier: readName(metadata ?? undefined, 'serviceTier') ?? readName(metadata ?? undefined, 'trafficType'),
  };
  return withErrorMember(withContext(seen, context), body);
}

function isLastElement(body: JsonValue): boolean {
  if (readName(readObject(body, 'promptFeedback') ?? undefined, 'blockReason') !== null) return true;
  return readArray(body, 'candidates').some((candidate) => readName(candidate, 'finishReason') !== null);
}

function readInteraction(body: JsonObject, reading: UsageReading): UsageReading {
  const usage = readObject(body, 'usage');
  const grounding = readArray(usage ?? undefined, 'grounding_tool_count')
    .filter((item) => readName(item, 'type')?.includes('search') === true)
    .reduce<number>((sum, item) => sum + (readCount(item, 'count') ?? 0), 0);
  const searches = grounding > 0 ? grounding : null;
  const seen = withUsage(reading, usage ?? undefined, (native) => normalise(native, INTERACTION_NAMES, searches));
  const context = { model: readName(body, 'model'), serviceTier: readName(body, 'service_tier') };
  return withErrorMember(withContext(seen, context), body);
}

function readJson(body: JsonValue, reading: UsageReading): UsageReading {
  if (Array.isArray(body))
    return withTerminal(body.reduce<UsageReading>((seen, item) => readElement(item, seen), reading));
  if (!isObject(body)) return withTerminal(reading);
  if (readObject(body, 'usage') !== null) return withTerminal(readInteraction(body, reading));
  const counted = readCount(body, 'totalTokens');
  if (counted !== null) {
    const native = { totalTokenCount: counted };
    return withTerminal(withUsage(reading, native, (all) => normalise(all, GENERATE_NAMES, null)));
  }
  return withTerminal(readElement(body, reading));
}

function readEvent(eventType: string | null, data: JsonValue, reading: UsageReading): UsageReading {
  const interaction = readObject(data, 'interaction');
  if (interaction !== null) {
    const seen = readInteraction(interaction, reading);
    const type = readName(data, 'event_type') ?? eventType;
    return type === 'interaction.completed' ? withTerminal(seen) : seen;
  }
  const seen = readElement(data, reading);
  return isLastElement(data) ? withTerminal(seen) : seen;
}

export const generateContent: Shape = {
  name: 'generate-content',
  readJson,
  mayMatter: createEventTest(
    '"usageMetadata"',
    '"finishReason"',
    '"interaction.completed"',
    USAGE_PATTERN,
    ERROR_PATTERN,
  ),
  readEvent,
  doneText: '[DONE]',
};
