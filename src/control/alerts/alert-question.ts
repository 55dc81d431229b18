/** The question of an alert: a figure over the latest calls or runs that match, and the number that it must reach. */
import { z } from 'zod';
import { parseUsd } from '../../vocabulary/usd.ts';
import { FilterError, parseLogFilter } from '../log/log-filter.ts';
import { parseRunFilters } from '../log/run-filter.ts';

export const MEASURES = [
  'cost',
  'calls',
  'runs',
  'errors',
  'error_share',
  'p95_duration_ms',
  'tokens',
  'unpriced_calls',
] as const;
export type Measure = (typeof MEASURES)[number];

const MAX_FILTERS = 20;
/** A share of three calls says nothing. */
const USUAL_LEAST_COUNT = 20;

function isAmount(text: string): boolean {
  try {
    return parseUsd(text) > 0n;
  } catch {
    return false;
  }
}

function findFault(about: 'calls' | 'runs', filter: string): string | null {
  try {
    if (about === 'runs') parseRunFilters([filter]);
    else parseLogFilter(filter);
    return null;
  } catch (error) {
    if (error instanceof FilterError) return error.message;
    throw error;
  }
}

export const AlertQuestion = z
  .strictObject({
    about: z
      .enum(['calls', 'runs'])
      .default('calls')
      .describe('Calls are those that ended within the window, runs those whose latest activity is in it'),
    filters: z
      .array(z.string().max(2_000))
      .max(MAX_FILTERS)
      .default([])
      .describe('As `f` of the log, or of runs: all must match'),
    measure: z
      .enum(MEASURES)
      .describe(
        'Of runs `errors` are runs with a failed call, and durations those of the runs; `error_share` is in percent',
      ),
    window_seconds: z.number().int().min(60).max(2_592_000).describe('Of the latest so many seconds'),
    threshold: z
      .string()
      .max(40)
      .refine(isAmount, 'a decimal number above 0')
      .describe('It fires when the figure reaches it: dollars for cost, percent, milliseconds, else a count'),
    least_count: z
      .number()
      .int()
      .min(1)
      .max(1_000_000)
      .default(USUAL_LEAST_COUNT)
      .describe('With fewer calls or runs than these, `error_share` and `p95_duration_ms` do not fire'),
  })
  .superRefine(({ about, filters, measure }, context) => {
    if (measure === 'runs' && about === 'calls')
      context.addIssue({ code: 'custom', path: ['measure'], message: 'runs are counted with "about": "runs"' });
    for (const [index, filter] of filters.entries()) {
      const message = findFault(about, filter);
      if (message !== null) context.addIssue({ code: 'custom', path: ['filters', index], message });
    }
  });
export type AlertQuestion = z.infer<typeof AlertQuestion>;

/** A question over a long window changes slowly, and costs more. */
const SHARE_OF_WINDOW = 60;
const LEAST_LOOK_SECONDS = 15;
const MOST_LOOK_SECONDS = 600;

/** Seconds between two looks. */
export function lookSecondsOf({ window_seconds: seconds }: AlertQuestion): number {
  return Math.min(MOST_LOOK_SECONDS, Math.max(LEAST_LOOK_SECONDS, seconds / SHARE_OF_WINDOW));
}

const NOUNS: Readonly<Record<Exclude<Measure, 'cost' | 'error_share' | 'p95_duration_ms'>, string>> = {
  calls: 'call',
  runs: 'run',
  errors: 'failed',
  tokens: 'token',
  unpriced_calls: 'call without a price',
};

/** With its unit, for people: `$20`, `3 failed calls`, `12.5 % failed runs`. */
export function nameFigure({ about, measure }: AlertQuestion, exact: string): string {
  const value = measure === 'error_share' ? exact.replace(/(\.\d\d)\d+$/, '$1') : exact;
  const one = about === 'runs' ? 'run' : 'call';
  switch (measure) {
    case 'cost':
      return `$${value}`;
    case 'error_share':
      return `${value} % failed ${one}s`;
    case 'p95_duration_ms':
      return `${value} ms for 95 % of ${one}s`;
    default: {
      const noun = measure === 'errors' ? `failed ${one}` : NOUNS[measure];
      return `${value} ${value === '1' ? noun : noun.replace(/^(failed call|failed run|call|run|token)/, '$1s')}`;
    }
  }
}

export function describeQuestion(question: AlertQuestion): string {
  const { filters, window_seconds: seconds, threshold } = question;
  const where = filters.length === 0 ? '' : ` where ${filters.join(' and ')}`;
  return `${nameFigure(question, threshold)} or more within ${seconds} s${where}`;
}
