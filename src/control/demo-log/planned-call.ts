/** A demo call before it becomes records: who asks what, when, and the outcome. */
import type { JsonObject } from '../../vocabulary/token-usage.ts';
import type { DemoFailure } from './demo-failures.ts';
import type { DemoModel } from './demo-models.ts';

export interface ToolUse {
  readonly id: string;
  readonly name: string;
  readonly input: JsonObject;
}

/** `image` is a PNG in base64. */
export type Turn =
  | { readonly role: 'user'; readonly text: string; readonly image: string | null }
  | { readonly role: 'assistant'; readonly text: string; readonly uses: readonly ToolUse[] }
  | { readonly role: 'tool'; readonly use: ToolUse; readonly text: string };

export interface DemoClient {
  readonly userAgent: string;
  /** An example address (RFC 5737, RFC 3849). */
  readonly address: string;
  /** As derived from the user agent. */
  readonly name: string;
}

export interface ToolSpec {
  readonly name: string;
  readonly about: string;
  readonly takes: readonly string[];
}

/** `input` excludes cached tokens; `output` includes `reasoning`. */
export interface DemoTokens {
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly output: number;
  readonly reasoning: number;
}

export interface DemoAnswer {
  readonly text: string;
  readonly reasoning: string | null;
  readonly uses: readonly ToolUse[];
}

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
  /** A few characters for the provider's ids of this call. */
  readonly mark: string;
}
