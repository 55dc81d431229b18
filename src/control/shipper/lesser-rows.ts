/**
 * Forms between the safe and the minimal row, for a field that the database still refuses: first all texts in ASCII,
 * then without one group of fields after another, so that only the refused field is lost.
 */
import { encodeCopyText } from '../store/copy-text.ts';
import { kindOf, type LlmRequestRow, LOG_COLUMN_NAMES } from '../store/log-columns.ts';
import type { CallItem } from './batch-item.ts';
import { mapTexts } from './sanitise-row.ts';

const UNKNOWN = 'unknown';

/** Fields that belong together, with their replacements. */
const GROUPS: readonly Partial<LlmRequestRow>[] = [
  { raw_metadata: {}, indexed_metadata: {} },
  { trace_id: null, trace_source: null, span_path: null, span_key: null, span_name: UNKNOWN },
  { model: null, model_requested: null, billing_model: null },
  { client: null, client_address: null },
  { agent: null, agent_session: null, agent_path: null, agent_turn: null },
  { error_type: null, error_message: null },
  { endpoint: UNKNOWN, path: '' },
  { provider_request_id: null, answer_id: null, provider_alias: null, service_tier: null, speed: null },
  { region: null, inference_geo: null },
  { usage: null, native_usage: null },
];

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
  for (const name of LOG_COLUMN_NAMES) {
    const kind = kindOf(name);
    if (kind === 'text' || kind === 'json') plain[name] = mapTexts(row[name], toAscii);
  }
  return { ...row, ...plain };
}

export function toAscii(text: string): string {
  return text.replace(/[^\x20-\x7e]/gu, '?');
}
