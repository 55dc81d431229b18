/** The words of alerts for people. */
import type { Alert, Destination, Question } from '../../api/alerts.ts';
import { describeFilter } from '../../search/filter-text.ts';

type Choice<T> = { readonly value: T; readonly label: string };

export const KINDS: readonly Choice<Alert['kind']>[] = [
  { value: 'brake', label: 'A brake hits a run or key' },
  { value: 'budget', label: 'A budget is nearly spent' },
  { value: 'question', label: 'A figure over the log reaches a threshold' },
  { value: 'unpriced', label: 'A model has no price' },
  { value: 'jobs', label: 'A job fails' },
  { value: 'nodes', label: 'A node is silent, or records wait' },
];

type Measure = Question['measure'];

/** `unit` stands behind the field of the threshold. */
const MEASURES: readonly (Choice<Measure> & { readonly unit: string; readonly of: readonly Question['about'][] })[] = [
  { value: 'cost', label: 'Cost', unit: 'dollars', of: ['calls', 'runs'] },
  { value: 'calls', label: 'Number of calls', unit: 'calls', of: ['calls', 'runs'] },
  { value: 'runs', label: 'Number of runs', unit: 'runs', of: ['runs'] },
  { value: 'errors', label: 'Number with errors', unit: 'with errors', of: ['calls', 'runs'] },
  { value: 'error_share', label: 'Share with errors', unit: 'percent', of: ['calls', 'runs'] },
  { value: 'p95_duration_ms', label: 'Duration, 95th percentile', unit: 'milliseconds', of: ['calls', 'runs'] },
  { value: 'tokens', label: 'Tokens', unit: 'tokens', of: ['calls', 'runs'] },
  { value: 'unpriced_calls', label: 'Calls without a price', unit: 'calls', of: ['calls', 'runs'] },
];

export const listMeasures = (about: Question['about']) => MEASURES.filter(({ of }) => of.includes(about));

export function unitOf(measure: Measure): string {
  return MEASURES.find(({ value }) => value === measure)?.unit ?? '';
}

/** Of these a few calls or runs say nothing. */
export const needsMany = (measure: Measure): boolean => measure === 'error_share' || measure === 'p95_duration_ms';

export const DESTINATION_WORDS = { webhook: 'Webhook', slack: 'Slack', email: 'Mail' } as const satisfies Readonly<
  Record<Destination['kind'], string>
>;

export const WINDOWS: readonly Choice<string>[] = [
  { value: '600', label: '10 minutes' },
  { value: '3600', label: 'an hour' },
  { value: '86400', label: 'a day' },
  { value: '604800', label: 'a week' },
];

/** `$20`, `12.5 %`, `830 ms`, `3`. */
export function nameFigure(measure: Measure, value: string): string {
  switch (measure) {
    case 'cost':
      return `$${value}`;
    case 'error_share':
      return `${value.replace(/(\.\d)\d+$/, '$1')} %`;
    case 'p95_duration_ms':
      return `${value} ms`;
    default:
      return value;
  }
}

function readQuestion(settings: Alert['settings']): Question | null {
  const { about = 'calls', filters, measure, window_seconds: seconds, threshold } = settings;
  const known = MEASURES.find(({ value }) => value === measure);
  if (known === undefined || typeof seconds !== 'number' || typeof threshold !== 'string') return null;
  return {
    about: about === 'runs' ? 'runs' : 'calls',
    filters: Array.isArray(filters) ? filters.map(String) : [],
    measure: known.value,
    window_seconds: seconds,
    threshold,
  };
}

function nameSpan(seconds: number): string {
  const units = [
    ['day', 86_400],
    ['hour', 3_600],
    ['minute', 60],
    ['second', 1],
  ] as const;
  for (const [unit, size] of units)
    if (seconds % size === 0) return `${seconds / size} ${unit}${seconds === size ? '' : 's'}`;
  return `${seconds} seconds`;
}

function nameSum(measure: Measure, of: string, about: Question['about']): string {
  switch (measure) {
    case 'cost':
      return `Cost of ${of}`;
    case 'calls':
      return about === 'calls' ? `Number of ${of}` : `Number of calls in ${of}`;
    case 'runs':
      return `Number of ${of}`;
    case 'errors':
      return `Number with errors among ${of}`;
    case 'error_share':
      return `Share with errors among ${of}`;
    case 'p95_duration_ms':
      return `95th percentile of the duration of ${of}`;
    case 'tokens':
      return `Tokens of ${of}`;
    case 'unpriced_calls':
      return `Calls without a price among ${of}`;
  }
}

function describeQuestion({ about, filters, measure, window_seconds: seconds, threshold }: Question): string {
  const of = filters.length === 0 ? `all ${about}` : `${about} where ${filters.map(describeFilter).join(' and ')}`;
  const within = WINDOWS.find(({ value }) => value === String(seconds))?.label ?? nameSpan(seconds);
  return `${nameSum(measure, of, about)} reaches ${nameFigure(measure, threshold)} within ${within}`;
}

/** What makes an alert fire, as a sentence without a full stop. */
export function describeAlert({ kind, settings }: Alert): string {
  if (kind === 'question') {
    const question = readQuestion(settings);
    if (question !== null) return describeQuestion(question);
  }
  if (kind === 'budget') return `A budget is spent to ${String(settings['percent'])} %`;
  return KINDS.find(({ value }) => value === kind)?.label ?? kind;
}
