/** Fields of both providers' reports, and the message about a field that differs from the documentation. */
import { z } from 'zod';
import type { PicoUsd } from '../../../vocabulary/usd.ts';
import { ReportError } from './provider-report.ts';
import { parseReportAmount } from './report-amount.ts';

/** A whole number, kept as its text, or `0.0`. */
const WHOLE = /^\d{1,15}(?:\.0+)?$/;

export const Count = z
  .string()
  .regex(WHOLE, 'a whole number was expected')
  .transform((text) => Number.parseInt(text, 10));

/** Times beyond this have no written day. */
const LATEST_MS = Date.UTC(9_999, 0);

export const Seconds = Count.transform((seconds) => seconds * 1_000).refine(
  (atMs) => atMs < LATEST_MS,
  'a time in seconds since 1970 was expected',
);

export const Instant = z
  .string()
  .transform((text) => Date.parse(text))
  .refine((atMs) => atMs >= 0 && atMs < LATEST_MS, 'an RFC 3339 time was expected');

/** Absent and null both mean not reported. */
export const OptionalCount = Count.nullish().transform((count) => count ?? null);
export const OptionalText = z
  .string()
  .nullish()
  .transform((text) => text ?? null);

export const Paging = {
  has_more: z
    .boolean()
    .nullish()
    .transform((hasMore) => hasMore ?? false),
};

const Currency = z.string().refine((code) => code.toLowerCase() === 'usd', 'only US dollars can be compared');

function amountIn(unit: 'dollars' | 'cents') {
  return z.string().transform((text, context): PicoUsd => {
    const amount = parseReportAmount(text, unit);
    if (amount !== null) return amount;
    context.addIssue({ code: 'custom', message: `an amount in ${unit} was expected` });
    return z.NEVER;
  });
}

/** `{"value": 0.06, "currency": "usd"}`; newer answers have the value as text. */
export const DollarAmount = z.object({ value: amountIn('dollars'), currency: Currency });
export const CentAmount = { amount: amountIn('cents'), currency: Currency } as const;

export function readShape<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
  const read = schema.safeParse(value);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  const where = issue === undefined || issue.path.length === 0 ? '' : ` at ${issue.path.map(String).join('.')}`;
  throw new ReportError(`${what} was expected, but${where}: ${issue?.message ?? 'it has another shape'}`);
}
