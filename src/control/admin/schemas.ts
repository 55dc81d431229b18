/** Schemas that several resources share. */
import { z } from '@hono/zod-openapi';
import { parseTime } from '../log/log-filter.ts';

export const ErrorBody = z
  .object({
    error: z.object({
      code: z.string().describe('A fixed word for programs'),
      message: z.string().describe('A sentence for people'),
      request_id: z.string().describe('Find it in the log of the gateway'),
    }),
  })
  .openapi('Error');

export function jsonAnswer<T extends z.ZodType>(schema: T, description: string) {
  return { description, content: { 'application/json': { schema } } };
}

export function errorAnswer(description: string) {
  return jsonAnswer(ErrorBody, description);
}

export const COMMON_ERRORS = {
  400: errorAnswer('The request cannot be read; the message says why'),
  401: errorAnswer('No credentials, or wrong ones'),
  403: errorAnswer('Not for this role, or not within the scopes of this token'),
  503: errorAnswer('The database does not answer'),
} as const;

export const Time = z.string().describe('RFC 3339, UTC, with milliseconds');

export const NameField = z
  .string()
  .trim()
  .min(1)
  .max(200)
  .regex(/^\P{Cc}*$/u, 'without control characters');

export function listOf<T extends z.ZodType>(item: T) {
  return z.object({
    data: z.array(item),
    next_cursor: z.string().nullable().describe('Give it as `cursor` to read on; null on the last page'),
  });
}

/** A list whose work for one page is bounded. */
export function searchedListOf<T extends z.ZodType>(item: T) {
  return listOf(item).extend({
    searched_to: z
      .string()
      .nullable()
      .describe(
        'How far the log was searched when the page ended early for lack of time: a time, or in the order of a measure its value (-1: none). `next_cursor` goes on from there. Null when the page is full or the last one',
      ),
  });
}

export const Money = z.string().describe('US dollars as plain decimal text, without exponent or trailing zeros');
export const Tokens = z.number().int();

export const TIME_FORM = 'write a time such as 2026-11-20T14:00:00Z, or a date such as 2026-11-20';

export const TimeParameter = z.string().refine((text) => parseTime(text) !== null, TIME_FORM);

export const CursorParameter = z.string().max(4_096).optional().describe('`next_cursor` of the page before');

export function limitParameter(most: number, usual: number) {
  return z.coerce.number().int().min(1).max(most).default(usual).describe(`Rows of a page, at most ${most}`);
}

export const TraceIdParameter = z
  .string()
  .min(1)
  .max(1_024)
  .refine((text) => !text.includes('\0'), 'a trace id has no U+0000')
  .describe('Trace id as the client sent it, percent-encoded as a query value');

export const FilterParameter = z
  .union([z.string(), z.array(z.string()).max(20)])
  .optional()
  .describe(
    'Repeatable. `column:op:value[,value]` or `metadata.Key:op:value`; the column `any_model` is `model`, or `model_requested` where the answer named none; op is one of eq, ne, in, nin, gt, gte, lt, lte, has, nohas, prefix, contains. Inside a value write a comma as %2C, a colon as %3A and a percent sign as %25, before the whole is encoded as a query value.',
  );

export function toDate(text: string | undefined): Date | null {
  return text === undefined ? null : parseTime(text);
}
