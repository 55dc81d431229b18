/**
 * The vocabulary of usage: what an answer said was consumed, as disjoint classes that can each be priced once.
 * Providers report overlapping totals in different ways; a shape (`shapes/`) turns each of them into this.
 */

/**
 * The disjoint classes. A token is in exactly one; `input` is uncached text (and everything that is not told apart),
 * `output` includes reasoning. The last two count requests, not tokens.
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
  'web_search_requests',
  'web_fetch_requests',
] as const;

export type UsageClass = (typeof USAGE_CLASSES)[number];

export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;
export interface JsonObject {
  readonly [name: string]: JsonValue;
}

/** What one answer reported. Quantities are whole numbers ≥ 0; an absent class was not reported (null is not zero). */
export interface TokenUsage {
  readonly classes: Readonly<Partial<Record<UsageClass, number>>>;
  /** Reasoning tokens, a part of `output`, for display; null when the provider does not say. */
  readonly reasoning: number | null;
  /** The provider's own usage object, verbatim: what every later correction starts from. */
  readonly native: JsonObject;
}

/** `provider`: complete and reported. `partial`: the answer ended early, this is what was reported so far. */
export type UsageSource = 'provider' | 'partial' | 'none';

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
  /** The answer's own ending was seen: `[DONE]`, `message_stop`, a whole JSON body, … */
  readonly terminal: boolean;
  readonly flags: readonly CallFlag[];
}

/** Remarks on a record that someone who audits it wants to know. Stored in `flags`. */
export type CallFlag =
  /** The path came with a doubled or missing prefix and was routed as meant. */
  | 'path_repaired'
  /** The stream's usage could not be asked for: the request body was too large or encoded. */
  | 'usage_not_asked'
  /** The stream's usage was asked for by the gateway and hidden from the client. */
  | 'usage_asked'
  /** The copy for metering passed a limit; usage may be missing. The call itself passed unchanged. */
  | 'tap_limit'
  /** The copy for metering could not be decoded. */
  | 'undecodable'
  /** The parts of the reported usage do not add up. */
  | 'inconsistent'
  /** Metadata beyond the limits was dropped. */
  | 'metadata_cut'
  /** A trace id, span path or span name was longer than the limit. */
  | 'trace_id_cut'
  | 'span_cut'
  /** The body was not stored (policy `full`, but the spool was short of space). */
  | 'body_dropped'
  /** Stored in a safe form after the database refused the row as it was. */
  | 'sanitised';
