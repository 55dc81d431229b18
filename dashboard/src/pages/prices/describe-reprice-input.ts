/** What a job that prices calls again was asked: why, and which calls. Its title says whether all or only unpriced ones. */
import type { Job } from '../../api/jobs.ts';
import { readText } from '../../messages/json-reading.ts';
import { describeFilter } from '../../search/filter-text.ts';
import { readRepriceQuestion } from './read-reprice-question.ts';

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
