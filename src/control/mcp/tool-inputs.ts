/** Inputs that several tools take. */
import { z } from 'zod';

const MAX_ROWS = 100;
/** The API takes one more, which is the one that keeps a token to its key. */
const MAX_FILTERS = 19;
const MAX_TEXT_CHARS = 500;

export const Filters = z
  .array(z.string().max(8_192))
  .max(MAX_FILTERS)
  .optional()
  .describe(
    'All must hold. Each is column:op:value, such as model:eq:gpt-5, total_cost:gte:0.01, status:gte:400, outcome:ne:ok, trace_id:eq:ID, client:prefix:claude, metadata.Feature:eq:search, flags:in:usage_not_asked. Ops: eq ne in nin gt gte lt lte has nohas prefix contains. In a value write %2C for a comma, %3A for a colon, %25 for a percent sign. Columns are those of a call, as get_call shows them, and any_model: model, or model_requested where the answer named none',
  );

const Time = z.iso.datetime({ offset: true }).optional().describe('RFC 3339 with a zone, such as 2026-11-28T12:00:00Z');

export const From = Time.describe('At or after this time (RFC 3339 with a zone)');
export const To = Time.describe('Before this time (RFC 3339 with a zone)');
export const Cursor = z
  .string()
  .max(8_192)
  .optional()
  .describe('next_cursor of the page before, with everything else as it was');
export const Limit = z.number().int().min(1).max(MAX_ROWS).default(20).describe('Rows of a page, at most 100');
export const SearchText = z.string().min(1).max(MAX_TEXT_CHARS);
export const TraceId = z.string().min(1).max(512).describe('The trace id of the run');
