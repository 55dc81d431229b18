/** A job that prices calls again: what it was asked, in a form that can be asked again and in words, and its result. */

import type { Job } from '../../api/jobs.ts';
import type { CostDifference } from '../../api/prices.ts';
import type { RepriceQuestion } from '../../api/reprice.ts';
import { readField, readList, readNumber, readText } from '../../messages/json-reading.ts';
import { describeFilter } from '../../search/filter-text.ts';

export function readRepriceQuestion({ input }: Pick<Job, 'input'>): Omit<RepriceQuestion, 'reason' | 'dry_run'> {
  return {
    from: readText(input, 'from'),
    to: readText(input, 'to'),
    f: readList(input, 'filters').map(String),
    model: readText(input, 'model'),
    only: readText(input, 'only') === 'all' ? 'all' : 'unpriced',
  };
}

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

/** To the minute: the beginning of a window that moves has seconds which nobody chose. */
function formatUtc(time: string): string {
  return time.slice(0, 16).replace('T', ' ');
}

function describeWindow(from: string | null, to: string | null): string {
  const parts = [
    from === null ? [] : [`from ${formatUtc(from)}`],
    to === null ? [] : [`until ${formatUtc(to)}`],
  ].flat();
  return parts.length === 0 ? '' : `${parts.join(' ')} UTC`;
}

export function describeRepriceInput({ input }: Pick<Job, 'input'>): readonly string[] {
  const { from, to, f, model } = readRepriceQuestion({ input });
  const reason = readText(input, 'reason') ?? '';
  const askedBy = readText(input, 'asked_by');
  return [
    reason === '' ? '' : `“${reason}”`,
    askedBy === null ? '' : `by ${askedBy}`,
    ...f.map(describeFilter),
    model === null ? '' : `model = ${model}`,
    describeWindow(from, to),
  ].filter((part) => part !== '');
}
