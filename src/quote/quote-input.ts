/**
 * What a quote is asked for: one call as the provider would answer it, or its usage in our own classes. Already checked
 * for form; whether it makes sense is found out on the way to its price.
 */
import type { ProviderName } from '../call-record.ts';
import type { ClassQuantities, JsonObject } from '../token-usage.ts';

/** What only the request or its route says. */
export interface QuoteContext {
  /** Run as a batch. Routes of batches need not say it. */
  readonly batch?: boolean | undefined;
  /** Pictures asked for. */
  readonly n?: number | undefined;
  readonly size?: string | undefined;
  readonly quality?: string | undefined;
  /** Characters of the text to be spoken. */
  readonly input_characters?: number | undefined;
  /** To be ranked, each of one piece. */
  readonly documents?: number | undefined;
  /** Where it is served: a region of AWS, a place of data residency at OpenAI. */
  readonly region?: string | undefined;
}

interface QuotedCall {
  readonly provider: ProviderName;
  /** Null where the endpoint is no model's. */
  readonly model: string | null;
  readonly providerAlias: string | null;
  readonly requestedAtMs: number;
  readonly context: QuoteContext;
}

export interface NativeQuoteInput extends QuotedCall {
  readonly kind: 'native';
  /** Method and path as a client sends them: `POST /v1/chat/completions`, `POST /model/{id}/converse`. */
  readonly endpoint: string;
  /** The provider's own usage object; null where it sends none. */
  readonly usage: JsonObject | null;
  /** Other members of the answer: `service_tier`, `output`, `candidates`, … */
  readonly response: JsonObject;
}

export interface ClassQuoteInput extends QuotedCall {
  readonly kind: 'classes';
  readonly classes: ClassQuantities;
  readonly serviceTier: string | null;
  readonly speed: string | null;
  readonly inferenceGeo: string | null;
}

export type QuoteInput = NativeQuoteInput | ClassQuoteInput;

export type QuoteErrorCode =
  | 'endpoint_unknown'
  | 'usage_missing'
  | 'usage_invalid'
  | 'usage_unreadable'
  | 'model_missing';

/** The question cannot be answered as it was put; the message says how to put it. */
export class QuoteError extends Error {
  readonly code: QuoteErrorCode;

  constructor(code: QuoteErrorCode, message: string) {
    super(message);
    this.name = 'QuoteError';
    this.code = code;
  }
}
