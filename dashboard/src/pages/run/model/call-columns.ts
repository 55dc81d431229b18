/** The calls of a run in the API's column-wise form, to what the tree is built from. Knows nothing of trees. */
import type { RunCallColumnsBody } from '../../../../../src/control/admin/run-call-bodies.ts';
import type { RunCall } from '../../../../../src/control/log/run-tree.ts';
import { parseUsd } from '../../../../../src/vocabulary/usd.ts';

export interface LeafCall extends RunCall {
  readonly provider: string;
  readonly outcome: string;
  readonly costStatus: string | null;
  readonly status: number | null;
  readonly errorType: string | null;
  readonly errorMessage: string | null;
  readonly firstTokenMs: number | null;
  readonly attempt: number | null;
  readonly flags: readonly string[];
}

/** Outcomes that are no errors: the call went well, or the client did not want its end. As in the API's sums. */
const FINE_OUTCOMES: readonly string[] = ['ok', 'client_closed'];

const moneyOf = (text: string | null | undefined) => (text == null ? null : parseUsd(text));

export function readLeafCalls(columns: RunCallColumnsBody): readonly LeafCall[] {
  return columns.id.map((id, index) => {
    const outcome = columns.outcome[index] ?? '';
    return {
      id,
      spanKey: columns.span_key[index] ?? null,
      spanName: columns.span_name[index] ?? '',
      requestedAtMs: columns.requested_at_ms[index] ?? 0,
      respondedAtMs: columns.responded_at_ms[index] ?? null,
      durationMs: columns.duration_ms[index] ?? null,
      isError: !FINE_OUTCOMES.includes(outcome),
      totalCost: moneyOf(columns.total_cost[index]),
      knownCost: moneyOf(columns.known_cost[index]),
      model: columns.model[index] ?? null,
      tokens: {
        inputTokens: columns.input_tokens[index] ?? null,
        cacheReadInputTokens: columns.cache_read_input_tokens[index] ?? null,
        cacheCreationInputTokens: columns.cache_creation_input_tokens[index] ?? null,
        outputTokens: columns.output_tokens[index] ?? null,
        reasoningTokens: columns.reasoning_tokens[index] ?? null,
      },
      provider: columns.provider[index] ?? '',
      outcome,
      costStatus: columns.cost_status[index] ?? null,
      status: columns.status[index] ?? null,
      errorType: columns.error_type[index] ?? null,
      errorMessage: columns.error_message[index] ?? null,
      firstTokenMs: columns.first_token_ms[index] ?? null,
      attempt: columns.attempt[index] ?? null,
      flags: columns.flags[index] ?? [],
    };
  });
}
