/**
 * The vocabulary of usage: what an answer said was consumed, as disjoint classes that can each be priced once.
 * Providers report overlapping totals in different ways; a shape (`shapes/`) turns each of them into this.
 */

/**
 * The disjoint classes. A token is in exactly one; `input` is uncached text (and everything that is not told apart),
 * `output` includes reasoning. Those after the tokens count what else is billed; their names say in what unit.
 */
export const USAGE_CLASSES = [
  'input',
  'input_audio',
  'input_image',
  'input_video',
  'cache_read',
  'cache_read_audio',
  'cache_read_image',
  'cache_read_video',
  'cache_creation_5m',
  'cache_creation_30m',
  'cache_creation_1h',
  'cache_creation_12h',
  'output',
  'output_audio',
  'output_image',
  'output_video',
  /** Milliseconds of sound sent, where the provider bills by duration and reports no tokens. */
  'input_audio_ms',
  /** Characters of the text sent, where the provider bills speech by them. */
  'input_characters',
  /** Whole pictures, where no tokens are reported for them. */
  'output_images',
  /** Queries of a reranker, in the provider's count: one for each 100 pieces of documents. */
  'rerank_queries',
  'web_search_requests',
  'web_fetch_requests',
  'file_search_requests',
  'code_execution_requests',
  'maps_requests',
  /** Answers that were grounded in a search, however many queries that took. */
  'grounded_prompts',
] as const;

export type UsageClass = (typeof USAGE_CLASSES)[number];

/** The tokens of a prompt, cached or not: they choose the rate where it rises with the prompt's length. */
const PROMPT_CLASSES: readonly UsageClass[] = USAGE_CLASSES.slice(0, USAGE_CLASSES.indexOf('output'));

/** What was put into the cache, for each lifetime. */
export const CACHE_WRITES: readonly UsageClass[] = USAGE_CLASSES.filter((name) => name.startsWith('cache_creation_'));

/** The classes that are not tokens: no tier, batch or speed changes their price. */
export const COUNTED_CLASSES: readonly UsageClass[] = USAGE_CLASSES.slice(USAGE_CLASSES.indexOf('input_audio_ms'));

/** Those of them that are the same on all models of a provider: that they have a price says nothing about a model. */
export const TOOL_CLASSES: readonly UsageClass[] = USAGE_CLASSES.slice(USAGE_CLASSES.indexOf('web_search_requests'));

export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;
export interface JsonObject {
  readonly [name: string]: JsonValue;
}

/** Whole numbers of each class; an absent one was not reported. */
export type ClassQuantities = Readonly<Partial<Record<UsageClass, number>>>;

/** Sums stay whole numbers that a column has room for. */
export function addClasses(first: ClassQuantities, second: ClassQuantities): ClassQuantities {
  const sum: Partial<Record<UsageClass, number>> = { ...first };
  for (const name of USAGE_CLASSES) {
    const more = second[name];
    if (more !== undefined) sum[name] = Math.min((sum[name] ?? 0) + more, Number.MAX_SAFE_INTEGER);
  }
  return sum;
}

export function countPrompt(classes: ClassQuantities): number {
  return PROMPT_CLASSES.reduce((sum, name) => sum + (classes[name] ?? 0), 0);
}

/** On which terms an answer was served, as it said. */
export interface ServedTerms {
  readonly serviceTier: string | null;
  readonly speed: string | null;
  readonly inferenceGeo: string | null;
}

/** What a second model used within the same call, at its own rates. */
export interface OtherUsage {
  /** What it worked as, e.g. `advisor`, `compaction`, `image_generation`. */
  readonly purpose: string;
  /** Null: the call's own model, but apart from its prompt (a compaction). */
  readonly model: string | null;
  readonly classes: ClassQuantities;
  /** Where it was served on other terms than the call. */
  readonly terms?: ServedTerms;
  /** As in `TokenUsage`. */
  readonly largestPrompt?: number;
  /** As in `TokenUsage`. */
  readonly hasUnknownWrites?: true;
}

/** How the request asked for its pictures; null where it leaves that to the API. */
export interface PicturesAsked {
  readonly size: string | null;
  readonly quality: string | null;
}

/** What one answer reported. Quantities are whole numbers ≥ 0; an absent class was not reported (null is not zero). */
export interface TokenUsage {
  readonly classes: ClassQuantities;
  /** Reasoning tokens, a part of `output`, for display; null when the provider does not say. */
  readonly reasoning: number | null;
  /** Not in `classes`. Absent when no other model took part. */
  readonly others?: readonly OtherUsage[];
  /** Something is billed that the classes do not hold, by an amount that the answer does not tell. */
  readonly isIncomplete?: true;
  /** The request was refused before the model had answered anything: what is reported may not be charged. */
  readonly isRefused?: true;
  /** Where the classes are a sum over several prompts (a batch): the tokens of the largest, which decide the tier. */
  readonly largestPrompt?: number;
  /** The classes are a sum over prompts of sizes that nobody reports: where the size decides a rate, none is known. */
  readonly hasUnknownPrompts?: true;
  /**
   * What was written to the cache may be billed as read from it (Anthropic's fallback credit), or was asked for with
   * several lifetimes and reported as one sum; nobody says how much.
   */
  readonly hasUnknownWrites?: true;
  /** Of `output_images`: what they cost depends on it. Absent where the request could not be read. */
  readonly pictures?: PicturesAsked;
  /** The provider's own usage object, verbatim: what every later correction starts from. */
  readonly native: JsonObject;
}

/**
 * `provider`: complete and reported. `partial`: the answer ended early, this is what was reported so far. `request`:
 * counted by the gateway in the request, where the provider bills by what was sent and reports nothing.
 */
export type UsageSource = 'provider' | 'partial' | 'request' | 'none';

/** A result that is made after the call that asked for it was answered (a background response, a batch). */
export interface LaterResult {
  /** The provider's id of it: its usage is billed once, however often it is fetched. */
  readonly id: string;
  /** True when the result is there, with all the usage it will ever have. */
  readonly isFinal: boolean;
}

/** Everything that metering reads from an answer. All of it is what the provider said; nothing is guessed. */
export interface UsageReading {
  readonly usage: TokenUsage | null;
  /** The model that served the call, by the answer; null when it does not name one. */
  readonly model: string | null;
  readonly serviceTier: string | null;
  readonly speed: string | null;
  readonly inferenceGeo: string | null;
  /** An error reported inside the answer: an error body, or an error event after a 200. */
  readonly error: { readonly type: string | null; readonly message: string | null } | null;
  /** Null for the answers that are their own result, which is nearly all of them. */
  readonly laterResult: LaterResult | null;
  /** The answer's own ending was seen: `[DONE]`, `message_stop`, a whole JSON body, … */
  readonly terminal: boolean;
  /**
   * Of a stream, the parts of the answer (choices, candidates) by their index: whether its finish reason was seen; null
   * where the part was not. When all have theirs, whoever reads the answer has it, though usage and ending may be to
   * come. Absent: no part was seen.
   */
  readonly parts?: readonly (boolean | null)[];
  /** Absent: not known to be. The usage is all that this answer will report, though its ending was not seen. */
  readonly isUsageFinal?: true;
  /** Told at the end of an answer that was delivered well and stopped short of its own ending. Absent: it did not. */
  readonly shortfall?: Shortfall;
  readonly flags: readonly CallFlag[];
}

export type Shortfall =
  /** Its last event, or a part of its last frame, never came. */
  | 'ended_early'
  /** It was announced as JSON and is none. */
  | 'not_json';

/** Nothing will be added to the usage that was read. */
export function hasFinalUsage(reading: UsageReading): boolean {
  return reading.terminal || reading.isUsageFinal === true;
}

/** Remarks on a record that someone who audits it wants to know. Stored in `flags`. */
export type CallFlag =
  /** The path came with a doubled or missing prefix and was routed as meant. */
  | 'path_repaired'
  /** The answer holds an absolute address that its client goes to next, around the gateway. */
  | 'leads_away'
  /** The stream's usage could not be asked for: the request body was too large or encoded. */
  | 'usage_not_asked'
  /** The stream's usage was asked for by the gateway and hidden from the client. */
  | 'usage_asked'
  /** The copy for metering passed a limit; usage may be missing. The call itself passed unchanged. */
  | 'tap_limit'
  /** The copy for metering could not be decoded. */
  | 'undecodable'
  /** The answer ended without what would tell that it is whole, in a format that need not have it. */
  | 'no_ending'
  /** The result is made later: its usage is billed by the record of the call that fetches it. */
  | 'usage_later'
  /** The usage of this result stands in an earlier record, and is not counted here again. */
  | 'usage_counted_before'
  /** A finished result was fetched and could not be read: it may be the one whose usage is to be counted. */
  | 'result_unread'
  /** The parts of the reported usage do not add up. */
  | 'inconsistent'
  /** Metadata beyond the limits was dropped. */
  | 'metadata_cut'
  /** A trace id, span path or span name was longer than the limit. */
  | 'trace_id_cut'
  | 'span_cut'
  /** The body was not stored (policy `full`, but the spool was short of space). */
  | 'body_dropped'
  /** Headers, the provider's usage object and most of an error's text were left out: the spool was nearly full. */
  | 'compacted'
  /** The clock of its machine was wrong: its times are by the clock of the database. */
  | 'clock_skew'
  /** The clock of its machine jumped while it was open. Its duration is right all the same. */
  | 'clock_step'
  /** Characters that the database cannot hold (U+0000, halves of surrogate pairs) stand as U+FFFD. */
  | 'text_replaced'
  /** Stored in a safe form after the database refused the row as it was. */
  | 'sanitised';

const UNREAD: readonly CallFlag[] = ['tap_limit', 'undecodable'];

export function hasUnreadPart({ flags }: UsageReading): boolean {
  return UNREAD.some((flag) => flags.includes(flag));
}

/** The finished result is there; of one that was fetched, every part was read: it can be fetched again. */
export function isWholeResult(reading: UsageReading | null, isFetched: boolean): boolean {
  if (reading?.laterResult?.isFinal !== true || !reading.terminal) return false;
  return !(isFetched && hasUnreadPart(reading));
}
