/**
 * Google's counts, under the names of generateContent and of Interactions. Thoughts and tool results are outside the
 * totals, and zeros are left out. Source: Gemini API reference, UsageMetadata, EmbeddingUsageMetadata and
 * Interaction.Usage, November 2026.
 */
import type { JsonObject } from '../../vocabulary/token-usage.ts';
import { type ByModality, needsSplit, setInput } from './modalities.ts';
import { readArray, readCount, readName } from './read-json.ts';
import { createDraft, type Draft, type Normalised } from './reported-usage.ts';

interface Names {
  readonly input: string;
  readonly cached: string;
  readonly toolUse: string;
  /** Best first: the Live API and embeddings spell it differently. */
  readonly output: readonly string[];
  readonly thoughts: string;
  readonly total: string;
  readonly inputDetails: readonly string[];
  readonly cachedDetails: readonly string[];
  readonly toolUseDetails: readonly string[];
  readonly outputDetails: readonly string[];
  readonly detailCount: string;
}

export const GENERATE_NAMES: Names = {
  input: 'promptTokenCount',
  cached: 'cachedContentTokenCount',
  toolUse: 'toolUsePromptTokenCount',
  output: ['candidatesTokenCount', 'responseTokenCount'],
  thoughts: 'thoughtsTokenCount',
  total: 'totalTokenCount',
  inputDetails: ['promptTokensDetails', 'promptTokenDetails'],
  cachedDetails: ['cacheTokensDetails'],
  toolUseDetails: ['toolUsePromptTokensDetails'],
  outputDetails: ['candidatesTokensDetails', 'responseTokensDetails'],
  detailCount: 'tokenCount',
};

export const INTERACTION_NAMES: Names = {
  input: 'total_input_tokens',
  cached: 'total_cached_tokens',
  toolUse: 'total_tool_use_tokens',
  output: ['total_output_tokens'],
  thoughts: 'total_thought_tokens',
  total: 'total_tokens',
  inputDetails: ['input_tokens_by_modality'],
  cachedDetails: ['cached_tokens_by_modality'],
  toolUseDetails: ['tool_use_tokens_by_modality'],
  outputDetails: ['output_tokens_by_modality'],
  detailCount: 'tokens',
};

export interface Grounding {
  /** Web search queries. */
  readonly searches: number | null;
  /** 1 when the answer is grounded in the web. */
  readonly prompts: number | null;
  readonly maps: number | null;
  /** A tool took part whose use has no class. */
  readonly hasUnknownTool?: true;
}

export const UNGROUNDED: Grounding = Object.freeze({ searches: null, prompts: null, maps: null });

/** Priced as text. */
const TEXT_MODALITIES: readonly string[] = ['text', 'document', 'modality_unspecified'];

/** Tokens by modality other than text; null without a split. An unknown modality has no known price. */
function readModalities(
  draft: Draft,
  native: JsonObject,
  names: readonly string[],
  countName: string,
): ByModality | null {
  const name = names.find((candidate) => readArray(native, candidate).length > 0);
  if (name === undefined) return null;
  const found: { audio?: number; image?: number; video?: number } = {};
  for (const item of readArray(native, name)) {
    const count = readCount(item, countName) ?? 0;
    const modality = readName(item, 'modality')?.toLowerCase() ?? 'text';
    switch (modality) {
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
        if (count > 0 && !TEXT_MODALITIES.includes(modality)) draft.lack();
    }
  }
  return found;
}

export function normaliseGemini(
  native: JsonObject,
  names: Names,
  grounding: Grounding,
  model: string | null = null,
): Normalised {
  const draft = createDraft();
  const byModality = (list: readonly string[]) => readModalities(draft, native, list, names.detailCount);
  const input = readCount(native, names.input);
  const toolUse = readCount(native, names.toolUse);
  const thoughts = readCount(native, names.thoughts);
  const outputName = names.output.find((name) => readCount(native, name) !== null);
  const output = outputName === undefined ? null : readCount(native, outputName);
  if (input !== null || toolUse !== null)
    setInput(draft, {
      total: input ?? 0,
      cached: readCount(native, names.cached),
      parts: byModality(names.inputDetails) ?? {},
      cachedParts: byModality(names.cachedDetails),
      extra: toolUse ?? 0,
      extraParts: byModality(names.toolUseDetails) ?? {},
    });
  if (output !== null || thoughts !== null) {
    const split = byModality(names.outputDetails);
    if (needsSplit(model, output, split !== null)) draft.lack();
    const parts = split ?? {};
    draft.set('output_audio', parts.audio ?? null);
    draft.set('output_image', parts.image ?? null);
    draft.set('output_video', parts.video ?? null);
    // This is clamped before thoughts are added, so that thoughts never fill a gap in the visible output.
    const visible = (output ?? 0) - (parts.audio ?? 0) - (parts.image ?? 0) - (parts.video ?? 0);
    if (visible < 0) draft.remark();
    draft.set('output', Math.max(0, visible) + (thoughts ?? 0));
  }
  const total = readCount(native, names.total);
  const sum = (input ?? 0) + (toolUse ?? 0) + (output ?? 0) + (thoughts ?? 0);
  // Tokens of the total that belong to no part are billed at an unknown price.
  if (total !== null && total > sum) draft.doubt();
  else if (total !== null && total !== sum) draft.remark();
  // An output of zero is left out, a prompt never is.
  if (input === null && toolUse === null && total !== sum) draft.expectBoth(input, output ?? thoughts);
  draft.set('web_search_requests', grounding.searches);
  draft.set('grounded_prompts', grounding.prompts);
  draft.set('maps_requests', grounding.maps);
  if (grounding.hasUnknownTool === true) draft.lack();
  return draft.done(thoughts);
}
