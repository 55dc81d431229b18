/** The safe form of a refused row: shortened, and without free-form fields. */

import { type LlmRequestRow, LOG_COLUMN_NAMES, sqlTypeOf } from '../store/log-columns.ts';
import { bareCall, type CallItem } from './batch-item.ts';

const MAX_TEXT_CHARACTERS = 512;
const MAX_BY_TYPE = { int2: 32_767, int4: 2_147_483_647, int8: Number.MAX_SAFE_INTEGER } as const;
/** `numeric(24,12)` has 12 whole digits. */
const MAX_MONEY = /^-?\d{1,12}(?:\.\d{1,12})?$/;

export function sanitiseCall(item: CallItem): CallItem {
  const { row } = item;
  const safe: LlmRequestRow = {
    ...row,
    ...safeFields(row),
    flags: [...new Set([...row.flags, 'sanitised' as const])],
    native_usage: null,
    estimated_tokens: null,
    cost_lines: null,
  };
  const priced: LlmRequestRow = safe.total_cost === row.total_cost ? safe : { ...safe, cost_status: 'unpriced' };
  return bareCall(priced, item);
}

/** Cuts texts and removes control characters; a number outside its column becomes null. */
function safeFields(row: LlmRequestRow): Partial<LlmRequestRow> {
  const safe: Record<string, unknown> = {};
  for (const name of LOG_COLUMN_NAMES) {
    const type = sqlTypeOf(name);
    const value = row[name];
    if (type === 'text' && typeof value === 'string') safe[name] = safeText(value);
    if (name === 'raw_metadata' || name === 'indexed_metadata') safe[name] = mapTexts(row[name], safeText);
    if (type === 'int2' || type === 'int4' || type === 'int8') safe[name] = safeCount(value, MAX_BY_TYPE[type]);
    if (type === 'numeric(24,12)') safe[name] = typeof value === 'string' && MAX_MONEY.test(value) ? value : null;
  }
  return safe;
}

/** Changes every text in the value, names included. */
export function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((one: unknown) => mapTexts(one, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [change(name), mapTexts(one, change)]));
}

function safeText(text: string): string {
  return text
    .replace(/\p{Cc}/gu, '\uFFFD')
    .slice(0, MAX_TEXT_CHARACTERS)
    .toWellFormed();
}

function safeCount(value: unknown, max: number): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value <= max ? value : null;
}
