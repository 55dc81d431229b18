/** Schemas of the log's rows in JSON, made from the table of columns. */
import { z } from 'zod';
import {
  type ColumnKind,
  isNullable,
  kindOf,
  LOG_COLUMN_NAMES,
  LOG_COLUMNS,
  type LogColumn,
  type LogRow,
} from '../store/log-columns.ts';

const SCHEMAS = {
  uuid: z.string(),
  text: z.string(),
  integer: z.number().int(),
  money: z.string(),
  time: z.string(),
  boolean: z.boolean(),
  text_list: z.array(z.string()),
  json: z.unknown(),
} as const satisfies Readonly<Record<ColumnKind, z.ZodType>>;

export function logRowShape(): { readonly [C in LogColumn]: z.ZodType<LogRow[C]> };
export function logRowShape(): object {
  return Object.fromEntries(LOG_COLUMN_NAMES.map((name) => [name, describe(name, isNullable(name))]));
}

/** The columns of a call that may be open: what its ending brings is null until then. */
function openRowShape(): { readonly [C in Exclude<LogColumn, 'id'>]: z.ZodType<LogRow[C] | null> };
function openRowShape(): object {
  return Object.fromEntries(LOG_COLUMN_NAMES.map((name) => [name, describe(name, true)]));
}

const HeaderPairs = z.array(z.tuple([z.string(), z.string()])).describe('In order');
const StoredBody = z
  .object({
    content_type: z.string().nullable(),
    content_encoding: z.string().nullable(),
    total_bytes: z.number().int().nullable(),
    head_bytes: z.number().int().nullable().describe('Unpacked bytes that are the head; what follows is the tail'),
  })
  .nullable();

export function logDetailShape() {
  return {
    ...openRowShape(),
    id: z.string().describe(LOG_COLUMNS.id.about),
    state: z.enum(['ended', 'open']),
    headers: z.object({ request: HeaderPairs, response: HeaderPairs }).nullable().describe('Those that were kept'),
    bodies: z
      .object({ request: StoredBody, response: StoredBody })
      .nullable()
      .describe('What was kept of them, without the bodies'),
    previous_id: z.string().nullable().describe('The call before it in its run'),
    next_id: z.string().nullable().describe('The call after it in its run'),
  };
}
export type LogDetail = z.infer<z.ZodObject<ReturnType<typeof logDetailShape>>>;

function describe(name: LogColumn, canBeNull: boolean): z.ZodType {
  const [kind, { about }] = [kindOf(name), LOG_COLUMNS[name]];
  const schema = canBeNull ? SCHEMAS[kind].nullable() : SCHEMAS[kind];
  return schema.describe(kind === 'money' ? `${about}; decimal text` : about);
}
