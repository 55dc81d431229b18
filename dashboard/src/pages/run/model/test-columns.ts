/** For tests: calls written short, as the API's columns. */
import type { OpenCallBody, RunCallColumnsBody } from '../../../../../src/control/admin/run-call-bodies.ts';

export const START_MS = Date.parse('2026-11-28T04:00:00Z');

export interface ShortCall {
  readonly id?: string;
  readonly path?: string | null;
  readonly name?: string;
  readonly model?: string | null;
  /** From the start of the run. */
  readonly startMs?: number;
  readonly lengthMs?: number;
  readonly cost?: string | null;
  readonly knownCost?: string | null;
  readonly outcome?: string;
  readonly inputTokens?: number | null;
}

export function callId(number: number): string {
  return `019e0000-0000-7000-8000-${String(number).padStart(12, '0')}`;
}

export function toColumns(calls: readonly ShortCall[]): RunCallColumnsBody {
  const column = <T>(read: (call: ShortCall, index: number) => T): T[] => calls.map(read);
  const start = (call: ShortCall, index: number) => START_MS + (call.startMs ?? index * 1_000);
  return {
    id: column((call, index) => call.id ?? callId(index)),
    requested_at_ms: column(start),
    responded_at_ms: column((call, index) => start(call, index) + (call.lengthMs ?? 500)),
    duration_ms: column((call) => call.lengthMs ?? 500),
    span_key: column((call) => call.path ?? null),
    span_name: column((call) => call.name ?? 'call'),
    provider: column(() => 'openai'),
    model: column((call) => (call.model === undefined ? 'gpt-4o' : call.model)),
    outcome: column((call) => call.outcome ?? 'ok'),
    status: column(() => 200),
    error_type: column(() => null),
    total_cost: column((call) => (call.cost === undefined ? '0.001' : call.cost)),
    known_cost: column((call) => call.knownCost ?? call.cost ?? null),
    cost_status: column(() => 'exact'),
    input_tokens: column((call) => (call.inputTokens === undefined ? 10 : call.inputTokens)),
    cache_read_input_tokens: column(() => null),
    cache_creation_input_tokens: column(() => null),
    output_tokens: column(() => 5),
    reasoning_tokens: column(() => null),
    first_token_ms: column(() => null),
    attempt: column(() => null),
    streamed: column(() => false),
    flags: column(() => []),
    error_message: column(() => null),
  };
}

export function openCall(number: number, path: string, startMs: number): OpenCallBody {
  return {
    id: callId(number),
    requested_at: new Date(START_MS + startMs).toISOString(),
    span_key: path,
    span_name: `open ${number}`,
    provider: 'openai',
    model_requested: 'gpt-4o',
  };
}
