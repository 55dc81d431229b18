/** Turns a leaf as the API sends it into what the tree is built from: the reverse of `log-record.ts`. */
import { z } from 'zod';
import { parseUsd } from '../../vocabulary/usd.ts';
import { logRowShape } from './log-schema.ts';
import type { RunCall } from './run-tree.ts';

export const TreeLeaf = z.object(logRowShape()).pick({
  id: true,
  span_key: true,
  span_name: true,
  requested_at: true,
  responded_at: true,
  duration_ms: true,
  outcome: true,
  total_cost: true,
  known_cost: true,
  model: true,
  model_requested: true,
  input_tokens: true,
  cache_read_input_tokens: true,
  cache_creation_input_tokens: true,
  output_tokens: true,
  reasoning_tokens: true,
});

const FINE_OUTCOMES: readonly string[] = ['ok', 'client_closed'];

export function toRunCall(leaf: Readonly<z.infer<typeof TreeLeaf>>): RunCall {
  return {
    id: leaf.id,
    spanKey: leaf.span_key,
    spanName: leaf.span_name,
    requestedAtMs: Date.parse(leaf.requested_at),
    respondedAtMs: leaf.responded_at === null ? null : Date.parse(leaf.responded_at),
    durationMs: leaf.duration_ms,
    ...(leaf.outcome === 'client_closed' ? { isLeftByClient: true } : {}),
    isError: !FINE_OUTCOMES.includes(leaf.outcome),
    totalCost: leaf.total_cost === null ? null : parseUsd(leaf.total_cost),
    knownCost: leaf.known_cost === null ? null : parseUsd(leaf.known_cost),
    model: leaf.model ?? leaf.model_requested,
    tokens: {
      inputTokens: leaf.input_tokens,
      cacheReadInputTokens: leaf.cache_read_input_tokens,
      cacheCreationInputTokens: leaf.cache_creation_input_tokens,
      outputTokens: leaf.output_tokens,
      reasoningTokens: leaf.reasoning_tokens,
    },
  };
}
