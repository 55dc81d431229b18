/** What about the prices needs somebody's attention, in sentences. */
import type { PricesStatus } from '../../api/prices.ts';

/** Providers change prices every few weeks. */
const OLD_DAYS = 30;

export function findPriceWarnings({ catalog, feed, unpriced_models, unpriced_calls }: PricesStatus): readonly string[] {
  const warnings: string[] = [];
  if (catalog.age_days > OLD_DAYS)
    warnings.push(
      `The catalogue is ${catalog.age_days} days old: newer models have no price, and changed prices are not known. Import a newer one with "tollgate prices import FILE".`,
    );
  if (unpriced_calls > 0)
    warnings.push(
      `${unpriced_calls.toLocaleString('en-US')} ${unpriced_calls === 1 ? 'call' : 'calls'} of ${unpriced_models === 1 ? 'one model' : `${unpriced_models} models`} had no whole price in the last 30 days.`,
    );
  if (feed.result === 'refused' || feed.result === 'failed')
    warnings.push(
      `The last look at the price feed ${feed.result === 'refused' ? 'was refused' : 'failed'}${feed.detail === null ? '.' : `: ${feed.detail}`} The prices before stay in force.`,
    );
  return warnings;
}
