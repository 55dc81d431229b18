/** What a job that prices calls again left as its result; null of any other job, and until it is done. */
import type { Job } from '../../api/jobs.ts';
import type { CostDifference } from '../../api/prices.ts';
import { readField, readNumber, readText } from '../../messages/json-reading.ts';

export interface RepriceOutcome extends CostDifference {
  readonly dry_run: boolean;
}

export const REPRICE_KIND = 'reprice';

export function readRepriceOutcome({ kind, result }: Pick<Job, 'kind' | 'result'>): RepriceOutcome | null {
  const dry_run = readField(result, 'dry_run');
  const [old_cost, new_cost] = [readText(result, 'old_cost'), readText(result, 'new_cost')];
  if (kind !== REPRICE_KIND || typeof dry_run !== 'boolean' || old_cost === null || new_cost === null) return null;
  const count = (name: string) => readNumber(result, name) ?? 0;
  return {
    dry_run,
    calls: count('calls'),
    changed: count('changed'),
    old_cost,
    new_cost,
    old_unpriced: count('old_unpriced'),
    new_unpriced: count('new_unpriced'),
  };
}
