/** A call of the demo data before it becomes bytes and records: who, when, what. Plain data, made by the plans. */
import type { DemoFailure } from './demo-failures.ts';
import type { DemoModel } from './demo-models.ts';
import type { DemoAnswer, DemoTokens, ToolSpec, Turn } from './exchange.ts';
import type { DemoClient } from './scenario.ts';

export interface PlannedCall {
  readonly requestedAtMs: number;
  readonly durationMs: number;
  readonly firstTokenMs: number;
  readonly model: DemoModel;
  readonly client: DemoClient;
  readonly isStreamed: boolean;
  readonly attempt: number;
  readonly fails: DemoFailure | null;
  readonly isLeft: boolean;
  readonly traceId: string | null;
  readonly spanPath: string | null;
  readonly spanName: string | null;
  readonly metadata: readonly (readonly [string, string])[];
  readonly system: string | null;
  readonly tools: readonly ToolSpec[];
  readonly turns: readonly Turn[];
  readonly answer: DemoAnswer;
  readonly tokens: DemoTokens;
}
