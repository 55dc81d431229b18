/** A leaf as the API sends it, back to what the tree is built from. The other direction is `log-record.ts`. */
import { parseUsd } from '../usd.ts';
import type { LogRecord } from './log-record.ts';
import type { RunCall } from './run-tree.ts';

function textOf(record: LogRecord, name: string): string | null {
  const value = record[name];
  return typeof value === 'string' ? value : null;
}

function numberOf(record: LogRecord, name: string): number | null {
  const value = record[name];
  return typeof value === 'number' ? value : null;
}

function timeOf(record: LogRecord, name: string): number | null {
  const text = textOf(record, name);
  return text === null ? null : Date.parse(text);
}

function moneyOf(record: LogRecord, name: string): bigint | null {
  const text = textOf(record, name);
  return text === null ? null : parseUsd(text);
}

/** Outcomes that are no errors: the call went well, or the client did not want its end. */
const FINE_OUTCOMES: readonly string[] = ['ok', 'client_closed'];

export function toRunCall(record: LogRecord): RunCall {
  return {
    id: textOf(record, 'id') ?? '',
    spanKey: textOf(record, 'span_key'),
    spanName: textOf(record, 'span_name') ?? '',
    requestedAtMs: timeOf(record, 'requested_at') ?? 0,
    respondedAtMs: timeOf(record, 'responded_at'),
    durationMs: numberOf(record, 'duration_ms'),
    ...(textOf(record, 'outcome') === 'client_closed' ? { isLeftByClient: true } : {}),
    isError: !FINE_OUTCOMES.includes(textOf(record, 'outcome') ?? ''),
    totalCost: moneyOf(record, 'total_cost'),
    knownCost: moneyOf(record, 'known_cost'),
    model: textOf(record, 'model') ?? textOf(record, 'model_requested'),
    tokens: {
      inputTokens: numberOf(record, 'input_tokens'),
      cacheReadInputTokens: numberOf(record, 'cache_read_input_tokens'),
      cacheCreationInputTokens: numberOf(record, 'cache_creation_input_tokens'),
      outputTokens: numberOf(record, 'output_tokens'),
      reasoningTokens: numberOf(record, 'reasoning_tokens'),
    },
  };
}
