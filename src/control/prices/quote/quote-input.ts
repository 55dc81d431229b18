/** The input of a quote: a call with the provider's usage or with our own classes. Only its form was checked. */
import type { ProviderName } from '../../../vocabulary/call-record.ts';
import type { ClassQuantities, JsonObject } from '../../../vocabulary/token-usage.ts';

export interface QuoteContext {
  /** Implied by batch routes. */
  readonly batch?: boolean | undefined;
  readonly n?: number | undefined;
  readonly size?: string | undefined;
  readonly quality?: string | undefined;
  readonly input_characters?: number | undefined;
  /** Documents to rank, of one piece each. */
  readonly documents?: number | undefined;
  /** An AWS region, or a place of OpenAI's data residency. */
  readonly region?: string | undefined;
}

interface QuotedCall {
  readonly provider: ProviderName;
  /** Null where the endpoint has no model. */
  readonly model: string | null;
  readonly providerAlias: string | null;
  readonly requestedAtMs: number;
  readonly context: QuoteContext;
}

export interface NativeQuoteInput extends QuotedCall {
  readonly kind: 'native';
  /** As clients send it: `POST /v1/chat/completions`, `POST /model/{id}/converse`. */
  readonly endpoint: string;
  /** The provider's usage object; null where it sends none. */
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

export class QuoteError extends Error {
  readonly code: QuoteErrorCode;

  constructor(code: QuoteErrorCode, message: string) {
    super(message);
    this.name = 'QuoteError';
    this.code = code;
  }
}
