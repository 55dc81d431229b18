/** What a job that prices calls again was asked, in the form in which the same can be asked again. */
import type { Job } from '../../api/jobs.ts';
import type { RepriceQuestion } from '../../api/reprice.ts';
import { readList, readText } from '../../messages/json-reading.ts';

export function readRepriceQuestion({ input }: Pick<Job, 'input'>): Omit<RepriceQuestion, 'reason' | 'dry_run'> {
  return {
    from: readText(input, 'from'),
    to: readText(input, 'to'),
    f: readList(input, 'filters').map(String),
    model: readText(input, 'model'),
    only: readText(input, 'only') === 'all' ? 'all' : 'unpriced',
  };
}
