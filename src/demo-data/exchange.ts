/**
 * One question and its answer in no provider's format: what the scenarios are written in, and what each format turns
 * into bytes.
 */
import type { JsonObject } from '../token-usage.ts';

export interface ToolUse {
  readonly id: string;
  readonly name: string;
  readonly input: JsonObject;
}

export type Turn =
  | { readonly role: 'user'; readonly text: string; readonly image: string | null }
  | { readonly role: 'assistant'; readonly text: string; readonly uses: readonly ToolUse[] }
  | { readonly role: 'tool'; readonly use: ToolUse; readonly text: string };

export interface ToolSpec {
  readonly name: string;
  readonly about: string;
  /** Names of its parameters, all of them text. */
  readonly takes: readonly string[];
}

/** What the provider counted: `input` without the cached parts; `reasoning` is a part of `output`. */
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

export interface Exchange {
  readonly requestedModel: string;
  readonly servedModel: string;
  readonly isStreamed: boolean;
  readonly system: string | null;
  readonly tools: readonly ToolSpec[];
  readonly turns: readonly Turn[];
  readonly answer: DemoAnswer;
  readonly tokens: DemoTokens;
  /** A few characters that make the provider's ids of this exchange. */
  readonly mark: string;
  readonly createdAtS: number;
}

/** The bodies of a call, as a provider's API has them. */
export interface WrittenExchange {
  readonly request: JsonObject;
  readonly answer: string;
  readonly answerType: 'application/json' | 'text/event-stream';
}

export type ExchangeFormat = (exchange: Exchange) => WrittenExchange;

export function toolSchema(tool: ToolSpec): JsonObject {
  return {
    type: 'object',
    properties: Object.fromEntries(tool.takes.map((name) => [name, { type: 'string' }])),
    required: [...tool.takes],
  };
}
