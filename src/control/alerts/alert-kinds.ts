/** The kinds of alerts and their settings. */
import { z } from 'zod';
import { parseUsd } from '../../vocabulary/usd.ts';
import { RULES } from '../brakes/brake-rules.ts';
import { parseLogFilter } from '../log/log-filter.ts';

export const ALERT_KINDS = ['question', 'budget', 'brake', 'unpriced', 'nodes', 'jobs'] as const;
export type AlertKind = (typeof ALERT_KINDS)[number];

export const MEASURES = ['cost', 'calls', 'errors', 'tokens', 'unpriced_calls'] as const;
export type Measure = (typeof MEASURES)[number];

const MAX_FILTERS = 20;
const MAX_PERCENT = 1_000;

function isAmount(text: string): boolean {
  try {
    return parseUsd(text) > 0n;
  } catch {
    return false;
  }
}

function isFilter(text: string): boolean {
  try {
    parseLogFilter(text);
    return true;
  } catch {
    return false;
  }
}

export const QuestionSettings = z.strictObject({
  filters: z
    .array(z.string().max(2_000).refine(isFilter, 'not a filter of the log, such as model:eq:gpt-5'))
    .max(MAX_FILTERS)
    .default([])
    .describe('As `f` of the log: all must match'),
  measure: z.enum(MEASURES).describe('What is added up over the calls'),
  window_seconds: z.number().int().min(60).max(2_592_000).describe('Of the latest so many seconds'),
  threshold: z
    .string()
    .max(40)
    .refine(isAmount, 'a decimal number above 0')
    .describe('It fires when the sum reaches it: dollars for cost, else a count'),
});
export type QuestionSettings = z.infer<typeof QuestionSettings>;

export const ALERT_SETTINGS = {
  question: QuestionSettings,
  budget: z.strictObject({
    percent: z.number().int().min(1).max(MAX_PERCENT).default(80).describe('Of a budget, that is spent'),
    budget_id: z.number().int().min(1).nullable().default(null).describe('Of this budget alone; null: of any'),
  }),
  brake: z.strictObject({
    rules: z.array(z.enum(RULES)).nullable().default(null).describe('Of these rules; null: of all'),
  }),
  unpriced: z.strictObject({}),
  nodes: z.strictObject({
    records_waiting: z
      .number()
      .int()
      .min(1)
      .max(1_000_000_000)
      .default(100_000)
      .describe('Records that wait in a spool'),
    silent_seconds: z.number().int().min(60).max(86_400).default(120).describe('Without a sign of life'),
  }),
  jobs: z.strictObject({}),
} as const satisfies Readonly<Record<AlertKind, z.ZodType>>;

/** For the whole deployment, so that only the operator may have them. */
export const OPERATOR_KINDS: readonly AlertKind[] = ['nodes'];
