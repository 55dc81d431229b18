/** Usage as disjoint classes, each priced once; `formats/usage/` makes them of overlapping totals. */

/**
 * A token is in exactly one class; `input` is uncached text and everything not told apart, `output` includes reasoning.
 * The classes after the tokens count other units, which their names say.
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
  /** Milliseconds of audio, where the provider bills by duration and reports no tokens. */
  'input_audio_ms',
  /** Characters of text, where the provider bills speech by them. */
  'input_characters',
  /** Whole images, where no tokens are reported for them. */
  'output_images',
  /** Rerank queries as the provider counts them: one for each 100 pieces of documents. */
  'rerank_queries',
  'web_search_requests',
  'web_fetch_requests',
  'file_search_requests',
  'code_execution_requests',
  'maps_requests',
  /** Grounded answers, however many searches each took. */
  'grounded_prompts',
] as const;

export type UsageClass = (typeof USAGE_CLASSES)[number];

/** The tokens of a prompt, cached or not: their sum chooses the rate where it rises with length. */
const PROMPT_CLASSES: readonly UsageClass[] = USAGE_CLASSES.slice(0, USAGE_CLASSES.indexOf('output'));

export const CACHE_WRITES: readonly UsageClass[] = USAGE_CLASSES.filter((name) => name.startsWith('cache_creation_'));

/** The classes that are not tokens: no tier, batch or speed changes their price. */
export const COUNTED_CLASSES: readonly UsageClass[] = USAGE_CLASSES.slice(USAGE_CLASSES.indexOf('input_audio_ms'));

/** Those that cost the same on all models of a provider: their price says nothing about a model. */
export const TOOL_CLASSES: readonly UsageClass[] = USAGE_CLASSES.slice(USAGE_CLASSES.indexOf('web_search_requests'));

export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;
export interface JsonObject {
  readonly [name: string]: JsonValue;
}

/** Whole numbers; an absent class was not reported. */
export type ClassQuantities = Readonly<Partial<Record<UsageClass, number>>>;

/** Sums are capped at what a column has room for. */
export function addClasses(first: ClassQuantities, second: ClassQuantities): ClassQuantities {
  const sum: Partial<Record<UsageClass, number>> = { ...first };
  for (const name of USAGE_CLASSES) {
    const more = second[name];
    if (more !== undefined) sum[name] = Math.min((sum[name] ?? 0) + more, Number.MAX_SAFE_INTEGER);
  }
  return sum;
}

export function countPrompt(classes: ClassQuantities): number {
  return countIn(classes, PROMPT_CLASSES);
}

const TOKEN_CLASSES: readonly UsageClass[] = USAGE_CLASSES.slice(0, USAGE_CLASSES.indexOf('input_audio_ms'));

/** Of prompt and answer, cached or not, of all models that took part. */
export function countTokens({ classes, others }: Pick<TokenUsage, 'classes' | 'others'>): number {
  let sum = countIn(classes, TOKEN_CLASSES);
  for (const other of others ?? []) sum += countIn(other.classes, TOKEN_CLASSES);
  return sum;
}

/** Every call is counted, by a loop that makes no lists. */
function countIn(classes: ClassQuantities, names: readonly UsageClass[]): number {
  let sum = 0;
  for (const name of names) sum += classes[name] ?? 0;
  return sum;
}

export interface ServedTerms {
  readonly serviceTier: string | null;
  readonly speed: string | null;
  readonly inferenceGeo: string | null;
}

/** Usage of a second model within one call, at its own rates. */
export interface OtherUsage {
  /** Its work, e.g. `advisor`, `compaction`, `image_generation`. */
  readonly purpose: string;
  /** Null: the call's own model, apart from its prompt (a compaction). */
  readonly model: string | null;
  readonly classes: ClassQuantities;
  readonly terms?: ServedTerms;
  /** As in `TokenUsage`. */
  readonly largestPrompt?: number;
  /** As in `TokenUsage`. */
  readonly hasUnknownWrites?: true;
}

/** The request's words; null where it leaves them to the API. */
export interface PicturesAsked {
  readonly size: string | null;
  readonly quality: string | null;
}

/** The usage of one answer: whole numbers ≥ 0; an absent class was not reported. */
export interface TokenUsage {
  readonly classes: ClassQuantities;
  /** The reasoning part of `output`, for display; null when the provider does not say. */
  readonly reasoning: number | null;
  /** Usage outside `classes`. Absent when no other model took part. */
  readonly others?: readonly OtherUsage[];
  /** An amount is billed that neither the classes nor the answer tell. */
  readonly isIncomplete?: true;
  /** The request was refused before any answer: the usage may not be charged. */
  readonly isRefused?: true;
  /** For a sum over several prompts (a batch): the tokens of the largest, which decide the tier. */
  readonly largestPrompt?: number;
  /** The sizes of the summed prompts are unknown: where size decides a rate, none is known. */
  readonly hasUnknownPrompts?: true;
  /** Some cache writes may be billed as reads (Anthropic's fallback credit), or have mixed lifetimes. */
  readonly hasUnknownWrites?: true;
  /** What `output_images` cost depends on it. Absent where the request could not be read. */
  readonly pictures?: PicturesAsked;
  /** The provider's usage object, verbatim: every later correction starts from it. */
  readonly native: JsonObject;
}

/**
 * `provider`: complete. `partial`: reported before the answer ended early. `request`: counted in the request, where the
 * provider bills by what was sent and reports nothing.
 */
export type UsageSource = 'provider' | 'partial' | 'request' | 'none';

/** A result made after its call was answered (a background response, a batch). */
export interface LaterResult {
  /** The provider's id: its usage is billed once, however often it is fetched. */
  readonly id: string;
  readonly isFinal: boolean;
  /** Work was done for it of which the answer tells no usage. */
  readonly lacksUsage?: true;
}

/** What metering read from an answer: only what the provider said, nothing guessed. */
export interface ReportedUsage {
  readonly usage: TokenUsage | null;
  readonly model: string | null;
  readonly serviceTier: string | null;
  readonly speed: string | null;
  readonly inferenceGeo: string | null;
  /** From an error body, or an error event after a 200. */
  readonly error: { readonly type: string | null; readonly message: string | null } | null;
  /** Null for answers that are their own result. */
  readonly laterResult: LaterResult | null;
  /** The answer's own end was seen: `[DONE]`, `message_stop`, a whole JSON body, … */
  readonly terminal: boolean;
  /**
   * The parts of a stream (choices, candidates) by index: whether the finish reason was seen; null where the part was
   * not. Once all have theirs, the reader has the answer. Absent: no part was seen.
   */
  readonly parts?: readonly (boolean | null)[];
  /** The usage is complete, though the answer's end was not seen. Absent: not known. */
  readonly isUsageFinal?: true;
  /** The provider's id of the answer, where its API names it in the body. Absent: not read. */
  readonly answerId?: string;
  /** An answer that was delivered well stopped short of its own end. */
  readonly shortfall?: Shortfall;
  readonly flags: readonly CallFlag[];
}

export type Shortfall = 'ended_early' | 'not_json' | 'not_decodable';

export function hasFinalUsage(reported: ReportedUsage): boolean {
  return reported.terminal || reported.isUsageFinal === true;
}

/** Remarks for those who audit a record. Stored in `flags`. */
export type CallFlag =
  /** The path came with a doubled or missing prefix and was routed as meant. */
  | 'path_repaired'
  /** The answer holds an absolute address that leads its client around the gateway. */
  | 'leads_away'
  /** The request body was too large or encoded to ask for the stream's usage. */
  | 'usage_not_asked'
  | 'usage_asked'
  /** The copy for metering passed a limit, so usage may be missing. The call passed unchanged. */
  | 'tap_limit'
  | 'undecodable'
  /** The answer ended without a sign that it is whole, in a format that need not have one. */
  | 'no_ending'
  | 'usage_later'
  | 'usage_counted_before'
  /** Of a websocket's connection: the usage of its responses stands in records of their own. */
  | 'usage_in_turns'
  /** The request asked for no output (`generate: false`), so that a usage of nothing is right. */
  | 'prewarm'
  /** A fetched result could not be read: its usage may be the one to count. */
  | 'result_unread'
  /** The parts of the reported usage do not add up. */
  | 'inconsistent'
  /** Metadata beyond the limits was dropped. */
  | 'metadata_cut'
  | 'trace_id_cut'
  | 'span_cut'
  /** A header is nearly one of the gateway's own; it was taken as it was written. */
  | 'header_misspelt'
  /** A span path came without a trace id, so that the call is in no run. */
  | 'span_without_trace'
  /** The policy was `full`, but the spool was short of space. */
  | 'body_dropped'
  /** Headers, the provider's usage object and most of an error's text were left out: the spool was nearly full. */
  | 'compacted'
  /** A soft budget was used up, or might have been with this call. */
  | 'over_budget'
  /** A budget let it through though nothing said how much it might cost. */
  | 'budget_unsure'
  /** The machine's clock was wrong: the times are by the database's clock. */
  | 'clock_skew'
  /** The machine's clock jumped during the call. The duration is right all the same. */
  | 'clock_step'
  /** Bytes that are no UTF-8, and characters that the database cannot hold (U+0000, halves of surrogate pairs), stand as U+FFFD. */
  | 'text_replaced'
  /** What the call said was erased on request; what it cost stays. */
  | 'erased'
  /** Stored in a safe form after the database had refused the row. */
  | 'sanitised';

const UNREAD: readonly CallFlag[] = ['tap_limit', 'undecodable'];

export function hasUnreadPart({ flags }: ReportedUsage): boolean {
  return UNREAD.some((flag) => flags.includes(flag));
}

/** The final result is there and, where it was fetched, was read whole. */
export function isWholeResult(reported: ReportedUsage | null, isFetched: boolean): boolean {
  if (reported?.laterResult?.isFinal !== true || !reported.terminal) return false;
  return !(isFetched && hasUnreadPart(reported));
}
