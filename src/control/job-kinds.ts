/** Every kind of job, one line each. */
import { priceEstimate } from '../estimates/price-estimate.ts';
import type { JobKind } from '../jobs/job.ts';
import { createDemoteKind } from '../metadata/demote-job.ts';
import { createPromoteKind } from '../metadata/promote-job.ts';
import type { CurrentPriceBook } from '../prices/current-price-book.ts';
import { createRepriceKind } from '../repricing/reprice-job.ts';
import { createVerifyKind } from '../verify/verify-job.ts';

export function createJobKinds(prices: CurrentPriceBook): readonly JobKind[] {
  return [createPromoteKind(), createDemoteKind(), createRepriceKind({ prices, priceEstimate }), createVerifyKind()];
}
