/** The shapes that several resources share, with the words that the OpenAPI document shows. */
import { z } from '@hono/zod-openapi';
import { type ColumnKind, LOG_COLUMNS } from '../runs/log-columns.ts';
import { parseTime } from '../runs/log-filter.ts';
import { LOG_COLUMN_NAMES } from '../runs/log-record.ts';

export const ErrorBody = z
  .object({
    error: z.object({
      code: z.string().describe('A fixed word for programs'),
      message: z.string().describe('A sentence for people'),
      request_id: z.string().describe('Find it in the log of the gateway'),
    }),
  })
  .openapi('Error');

export function errorAnswer(description: string) {
  return { description, content: { 'application/json': { schema: ErrorBody } } };
}

/** Of every route that asks the database. */
export const COMMON_ERRORS = {
  400: errorAnswer('The request cannot be read; the message says why'),
  401: errorAnswer('No admin token, or a wrong one'),
  503: errorAnswer('The database does not answer'),
} as const;

export function jsonAnswer<T extends z.ZodType>(schema: T, description: string) {
  return { description, content: { 'application/json': { schema } } };
}

export function listOf<T extends z.ZodType>(item: T) {
  return z.object({
    data: z.array(item),
    next_cursor: z.string().nullable().describe('Give it as `cursor` to read on; null on the last page'),
  });
}

export const Money = z.string().describe('US dollars as plain decimal text, without exponent or trailing zeros');
export const Time = z.string().describe('RFC 3339, UTC, with milliseconds');
export const Tokens = z.number().int();

const ColumnSchemas = {
  uuid: z.string(),
  text: z.string(),
  integer: z.number().int(),
  money: z.string(),
  time: z.string(),
  boolean: z.boolean(),
  text_list: z.array(z.string()),
  json: z.unknown(),
} as const satisfies Readonly<Record<ColumnKind, z.ZodType>>;

function columnSchema(kind: ColumnKind, about: string): z.ZodType {
  return ColumnSchemas[kind].nullable().describe(kind === 'money' ? `${about}; decimal text` : about);
}

/** One call. Built from the list of columns, so that the document cannot miss one. */
export const LogRecordBody = z.record(z.string(), z.any()).openapi('LogRecord', {
  type: 'object',
  description: 'One call. Money is decimal text, null means "not reported" or "not known", never zero.',
  properties: Object.fromEntries(
    LOG_COLUMN_NAMES.map((name) => [name, documentColumn(LOG_COLUMNS[name].kind, LOG_COLUMNS[name].about)]),
  ),
});

function documentColumn(kind: ColumnKind, about: string) {
  const { $schema: _, ...schema } = z.toJSONSchema(columnSchema(kind, about));
  return JSON.parse(JSON.stringify(schema));
}

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
    'Repeatable. `column:op:value[,value]` or `metadata.Key:op:value`; op is one of eq, ne, in, nin, gt, gte, lt, lte, has, nohas, prefix, contains. Inside a value write a comma as %2C, a colon as %3A and a percent sign as %25, before the whole is encoded as a query value.',
  );

export function toDate(text: string | undefined): Date | null {
  return text === undefined ? null : parseTime(text);
}
