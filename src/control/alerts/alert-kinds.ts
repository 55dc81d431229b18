/** The kinds of alerts and their settings. */
import { z } from 'zod';
import { RULES } from '../brakes/brake-rules.ts';
import { AlertQuestion } from './alert-question.ts';

export const ALERT_KINDS = ['question', 'budget', 'brake', 'unpriced', 'nodes', 'jobs'] as const;
export type AlertKind = (typeof ALERT_KINDS)[number];

const MAX_PERCENT = 1_000;

export const ALERT_SETTINGS = {
  question: AlertQuestion,
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
