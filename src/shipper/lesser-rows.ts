/**
 * Forms of a row between the safe one and the bare one, for a field that the database refuses even when it is short and
 * free of control characters: first every text in ASCII, which every database can hold, then without one group of
 * fields after another. So one field costs itself and not all others.
 */
import { encodeCopyText } from '../store/copy-text.ts';
import { LLM_REQUEST_COLUMNS, type LlmRequestRow } from '../store/llm-request-row.ts';
import type { CallItem } from './batch-item.ts';
import { mapTexts } from './sanitise-row.ts';

const UNKNOWN = 'unknown';

/** What belongs together, and what stands in its place. */
const GROUPS: readonly Partial<LlmRequestRow>[] = [
  { raw_metadata: {}, indexed_metadata: {} },
  { trace_id: null, span_path: null, span_key: null, span_name: UNKNOWN },
  { model: null, model_requested: null, billing_model: null },
  { client: null, client_address: null },
  { error_type: null, error_message: null },
  { endpoint: UNKNOWN, path: '' },
  { provider_request_id: null, provider_alias: null, service_tier: null, speed: null },
  { region: null, inference_geo: null },
  { usage: null, native_usage: null },
];

/** `item` is in its safe form. */
export function* listLesserForms(item: CallItem): Generator<CallItem> {
  const row = inAscii(item.row);
  yield withRow(item, row);
  for (const group of GROUPS) yield withRow(item, { ...row, ...group });
}

function withRow(item: CallItem, row: LlmRequestRow): CallItem {
  return { ...item, row, copyText: encodeCopyText([row]) };
}

function inAscii(row: LlmRequestRow): LlmRequestRow {
  const plain: Record<string, unknown> = {};
  let name: keyof LlmRequestRow;
  for (name in LLM_REQUEST_COLUMNS) {
    const kind = LLM_REQUEST_COLUMNS[name];
    if (kind === 'text' || kind === 'json') plain[name] = mapTexts(row[name], toAscii);
  }
  return { ...row, ...plain };
}

export function toAscii(text: string): string {
  return text.replace(/[^\x20-\x7e]/gu, '?');
}
