/** What a call can cost at most, told before it is forwarded, and what it did cost. Budgets reserve one and settle the other. */
import type { TopLevelScan } from '../../formats/wire/json-top-level.ts';
import type { Endpoint } from '../../providers/provider.ts';
import type { ProviderName } from '../../vocabulary/call-record.ts';
import type { PicoUsd } from '../../vocabulary/usd.ts';

export interface HeaderTerms {
  readonly serviceTier: string | null;
  readonly speed: string | null;
}

/** A call as it is about to be sent. A websocket's `response.create` is one too, its message being the body. */
export interface AskedCall {
  /** The call's id, by which its cost finds what was asked here. Without it nothing is learnt. */
  readonly id?: string;
  /** Whose conversations it may go on: of one key, and of one run where there is one. */
  readonly conversations?: string;
  readonly keyId?: number;
  readonly provider: ProviderName;
  readonly providerAlias: string | null;
  readonly endpoint: Endpoint;
  readonly region: string | null;
  readonly requestedAtMs: number;
  /** Null where neither path nor body names one. */
  readonly modelRequested: string | null;
  readonly contentType: string | null;
  /** Terms that its headers ask for, where they ask for any. */
  readonly askedByHeaders?: HeaderTerms;
  /** `none`: there is none. `unread`: it is streamed or encoded, so that nothing in it is known. */
  readonly body: Buffer | 'none' | 'unread';
  /** Of the body, with all its members, where one was made before. */
  readonly scan?: TopLevelScan;
}

/** Where the most of the answer's length comes from. */
export type OutputLimit =
  /** The request states it. */
  | 'stated'
  /** The model's own. */
  | 'model'
  /** What is asked for has no output that is billed, or a fixed one (embeddings, pictures). */
  | 'fixed';

export type NoGreatestCost =
  /** No price, or a part of what may be billed has none. */
  | 'unpriced'
  /** The body could not be read before it was forwarded. */
  | 'unread-body'
  /** It states no maximum of output, and none is known of its model. */
  | 'no-maximum'
  /** How much the provider will read is not known: the context window of the model, the length of a list or a sound. */
  | 'unknown-length'
  /** Nothing limits how often its tools may call the model. */
  | 'endless-tools'
  /** It names what the provider keeps, in which such tools may be. */
  | 'kept-tools'
  /** It may have models called that it is not addressed to. */
  | 'other-models'
  /** Calls of its kind have no bound. */
  | 'no-bound'
  /** A batch or the like, which is billed when its results are fetched. */
  | 'billed-later';

/** Why nothing bounds a request, and the member or tool of it that is the reason: a name of the provider's, none of the client's. */
export interface Unbounded {
  readonly why: 'unknown-length' | 'endless-tools' | 'kept-tools' | 'other-models';
  readonly member: string;
}

interface Usual {
  /** What 99 of 100 calls of the key to this model do not exceed; absent until a hundred have been settled here. */
  readonly usual?: PicoUsd;
}

export type GreatestCost =
  | (Usual & {
      readonly kind: 'known';
      readonly amount: PicoUsd;
      readonly outputLimit: OutputLimit;
      /** The bounds that the amount was made of. */
      readonly promptTokens: number;
      readonly outputTokens: number;
    })
  | (Usual & { readonly kind: 'unknown'; readonly why: NoGreatestCost; readonly member?: string });

export type NoSettledCost =
  | 'unpriced'
  /** The answer was cut, or reported nothing. */
  | 'no-usage'
  /** A part of it is known, and its cost is at least this. */
  | 'partial'
  /** What was asked for is made later; the call that fetches it carries the cost. */
  | 'billed-later';

export type SettledCost =
  | { readonly kind: 'exact'; readonly amount: PicoUsd }
  | { readonly kind: 'unknown'; readonly why: NoSettledCost; readonly knownAmount: PicoUsd };

/** A call before has counted the result: this one adds nothing, and what was held for it is not this one's to replace. */
export interface RepeatedResult {
  readonly kind: 'repeated';
}
