/**
 * OpenAI's usage object under both sets of names: its totals include cached, written and audio tokens, split here.
 * Source: OpenAI's API reference (usage objects), November 2026.
 */
import type { JsonObject } from '../../vocabulary/token-usage.ts';
import { type ByModality, needsSplit, setInput } from './modalities.ts';
import { readCount, readObject } from './read-json.ts';
import { createDraft, type Draft, type Normalised } from './reported-usage.ts';
import { readServerTools } from './server-tools.ts';

interface Names {
  readonly input: string;
  readonly output: string;
  readonly inputDetails: readonly string[];
  readonly outputDetails: readonly string[];
}

export const CHAT_NAMES: Names = {
  input: 'prompt_tokens',
  output: 'completion_tokens',
  inputDetails: ['prompt_tokens_details'],
  outputDetails: ['completion_tokens_details'],
};

export const RESPONSES_NAMES: Names = {
  input: 'input_tokens',
  output: 'output_tokens',
  // Transcriptions use the singular.
  inputDetails: ['input_tokens_details', 'input_token_details'],
  outputDetails: ['output_tokens_details', 'output_token_details'],
};

export interface OpenAiExtras {
  readonly model?: string | null;
  /** Cached tokens reported elsewhere, for usage objects without any. */
  readonly cachedElsewhere?: number | null;
  readonly webSearches?: number | null;
  readonly fileSearches?: number | null;
  readonly codeExecutions?: number | null;
}

function firstObject(native: JsonObject, names: readonly string[]): JsonObject | null {
  for (const name of names) {
    const found = readObject(native, name);
    if (found !== null) return found;
  }
  return null;
}

export function normaliseOpenAi(native: JsonObject, names: Names, extras: OpenAiExtras): Normalised {
  const draft = createDraft();
  const input = readCount(native, names.input);
  const total = readCount(native, 'total_tokens');
  const details = firstObject(native, names.inputDetails);
  const hit = readCount(native, 'prompt_cache_hit_tokens');
  const miss = readCount(native, 'prompt_cache_miss_tokens');
  const cached =
    hit ?? readCount(details, 'cached_tokens') ?? readCount(native, 'cached_tokens') ?? extras.cachedElsewhere ?? null;
  const writtenSplit = readObject(details, 'cache_write_tokens_details');
  const written = readCount(details, 'cache_write_tokens') ?? sumWritten(writtenSplit);

  if (hit !== null && miss !== null && input !== null && hit + miss !== input) draft.remark();
  const allInput = miss === null ? input : miss + (cached ?? 0);
  if (allInput !== null) {
    const parts = readParts(details);
    setInput(draft, { total: allInput, cached, written, parts, cachedParts: null });
  }
  setWritten(draft, written, writtenSplit);

  const outputDetails = firstObject(native, names.outputDetails);
  const output = wholeOutput(draft, readCount(native, names.output), allInput, total);
  // A total that the input fills says that there was no output.
  if (output !== null || total === null || total !== allInput) draft.expectBoth(allInput, output);
  setOutput(draft, output, outputDetails, false);
  const isSplit = ['text_tokens', 'audio_tokens', 'image_tokens'].some(
    (name) => readCount(outputDetails, name) !== null,
  );
  if (needsSplit(extras.model ?? null, output, isSplit)) draft.lack();
  setServerTools(draft, native, extras);
  return draft.done(readCount(outputDetails, 'reasoning_tokens'));
}

/** The reported parts, zeros included. */
function readParts(details: JsonObject | null): ByModality {
  const audio = readCount(details, 'audio_tokens');
  const image = readCount(details, 'image_tokens');
  return { ...(audio === null ? {} : { audio }), ...(image === null ? {} : { image }) };
}

const LIFETIMES: readonly string[] = ['ttl_30m_tokens', 'ttl_12h_tokens'];

function sumWritten(split: JsonObject | null): number | null {
  const thirtyMinutes = readCount(split, 'ttl_30m_tokens');
  const twelveHours = readCount(split, 'ttl_12h_tokens');
  return thirtyMinutes === null && twelveHours === null ? null : (thirtyMinutes ?? 0) + (twelveHours ?? 0);
}

function setWritten(draft: Draft, written: number | null, split: JsonObject | null): void {
  if (written === null && split === null) return;
  const twelveHours = readCount(split, 'ttl_12h_tokens');
  const thirtyMinutes = readCount(split, 'ttl_30m_tokens');
  draft.set('cache_creation_12h', twelveHours);
  // An unknown lifetime has no known price.
  const others = Object.keys(split ?? {}).flatMap((name) =>
    LIFETIMES.includes(name) ? [] : (readCount(split ?? {}, name) ?? 0),
  );
  const other = others.reduce((sum, count) => sum + count, 0);
  if (other > 0) draft.doubt();
  // The split's remainder is the default class.
  if (written !== null) draft.set('cache_creation_30m', written - (twelveHours ?? 0) - other);
  if (written !== null && split !== null && (twelveHours ?? 0) + (thirtyMinutes ?? 0) !== written) draft.remark();
}

/** Trusts the total: some hosts (Google's compatible endpoint) leave reasoning out of the completion count. */
function wholeOutput(draft: Draft, output: number | null, input: number | null, total: number | null): number | null {
  if (input === null || total === null) return output;
  if (output === null) return total > input ? total - input : null;
  if (input + output === total) return output;
  draft.remark();
  return Math.max(output, total - input);
}

/** `isImageAnswer`: output without a split is image tokens. */
export function setOutput(
  draft: Draft,
  output: number | null,
  details: JsonObject | null,
  isImageAnswer: boolean,
): void {
  if (output === null) return;
  const audio = readCount(details, 'audio_tokens');
  const rest = output - (audio ?? 0) - (readCount(details, 'text_tokens') ?? 0);
  const image = readCount(details, 'image_tokens') ?? (isImageAnswer ? rest : null);
  draft.set('output_audio', audio);
  draft.set('output_image', image);
  draft.set('output', output - (audio ?? 0) - (image ?? 0));
}

function setServerTools(draft: Draft, native: JsonObject, extras: OpenAiExtras): void {
  const tools = readServerTools(native);
  draft.set('web_search_requests', extras.webSearches ?? tools.webSearches);
  draft.set('web_fetch_requests', tools.webFetches);
  if (tools.hasUnknown) draft.lack();
  draft.set('file_search_requests', extras.fileSearches ?? null);
  draft.set('code_execution_requests', extras.codeExecutions ?? null);
}
