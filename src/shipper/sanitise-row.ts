/**
 * The safe form of a row that the database refused: the same call, run, metadata, model, usage and cost, cut to a
 * length, and without what is free in form. Better a plain row in the log than none.
 */

import { encodeCopyText } from '../store/copy-text.ts';
import { LLM_REQUEST_COLUMNS, type LlmRequestRow } from '../store/llm-request-row.ts';
import type { CallItem } from './batch-item.ts';

const MAX_TEXT_CHARACTERS = 512;
const MAX_BY_KIND = { int2: 32_767, int4: 2_147_483_647, int8: Number.MAX_SAFE_INTEGER } as const;
/** Whole digits that `numeric(24,12)` holds. */
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
  return {
    kind: 'call',
    row: priced,
    copyText: encodeCopyText([priced]),
    billedOnceAs: item.billedOnceAs,
    bodies: [],
    requestHeaders: [],
    responseHeaders: [],
  };
}

/** Every text cut and free of control characters, every number within its column, or null. */
function safeFields(row: LlmRequestRow): Partial<LlmRequestRow> {
  const safe: Record<string, unknown> = {};
  let name: keyof LlmRequestRow;
  for (name in LLM_REQUEST_COLUMNS) {
    const kind = LLM_REQUEST_COLUMNS[name];
    const value = row[name];
    if (kind === 'text' && typeof value === 'string') safe[name] = safeText(value);
    if (name === 'raw_metadata' || name === 'indexed_metadata') safe[name] = mapTexts(row[name], safeText);
    if (kind === 'int2' || kind === 'int4' || kind === 'int8') safe[name] = safeCount(value, MAX_BY_KIND[kind]);
    if (kind === 'money') safe[name] = typeof value === 'string' && MAX_MONEY.test(value) ? value : null;
  }
  return safe;
}

/** The same value with every text in it changed, names as well. */
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
