/** Why a model has no price; `suggest-price.ts` says what to do. */

export const UNPRICED_REASONS = [
  /** No layer knows the model. */
  'unknown_model',
  /** The id stands for a model that only the operator knows. */
  'opaque_id',
  /** The model has prices, but none for a class that was used. */
  'no_rate_for_class',
  /** The standard price exists, but none for the tier, speed or place. */
  'terms',
  /** A finished result was fetched and could not be read. */
  'result_unread',
  /** The gateway does not know what the endpoint does. */
  'unknown_endpoint',
  'no_model',
  'priced_by_now',
] as const;
export type UnpricedReason = (typeof UNPRICED_REASONS)[number];
