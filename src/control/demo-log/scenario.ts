/**
 * A scenario: a tree of steps and calls with the texts of an invented company; times and counts are drawn from a seed.
 * In a text, `{n}` is the repetition's number and `{item}` its item.
 */
import type { JsonObject } from '../../vocabulary/token-usage.ts';
import type { DemoFailure } from './demo-failures.ts';
import type { DemoModelName } from './demo-models.ts';
import type { DemoClient, ToolSpec } from './planned-call.ts';

export interface DemoCall {
  readonly call?: string;
  readonly model: DemoModelName;
  /** The user's text. Without it the call continues the one before, with `results`. */
  readonly ask?: string;
  /** Results of the tools that the call before used, in their order. */
  readonly results?: readonly string[];
  readonly say?: string;
  readonly think?: string;
  readonly use?: readonly { readonly tool: string; readonly input: JsonObject }[];
  /** Approximate: uncached input, cache read, cache write, output with its reasoning. */
  readonly tokens: {
    readonly in: number;
    readonly cached?: number;
    readonly wrote?: number;
    readonly out: number;
    readonly thought?: number;
  };
  readonly stream?: true;
  readonly image?: true;
  readonly fails?: DemoFailure;
  /** Failed tries before this one, which the SDK repeats. */
  readonly failsFirst?: readonly DemoFailure[];
  readonly leaves?: true;
}

export interface DemoStep {
  readonly step: string;
  readonly nodes: readonly DemoNode[];
  readonly parallel?: true;
  readonly times?: number;
  readonly items?: readonly string[];
  /** The number of repetitions that run at a time; one by default. */
  readonly beside?: number;
}

export type DemoNode = DemoCall | DemoStep;

export interface DemoRun {
  readonly traceId: string;
  /** Before the moment of loading. */
  readonly hoursAgo: number;
  readonly client: DemoClient;
  readonly metadata: Readonly<Record<string, string>>;
  readonly system: string;
  readonly tools?: readonly ToolSpec[];
  readonly nodes: readonly DemoNode[];
}

export const DEMO_CLIENTS = {
  openaiPython: { userAgent: 'OpenAI/Python 2.8.1', name: 'OpenAI/Python', address: '192.0.2.11' },
  anthropicPython: { userAgent: 'Anthropic/Python 1.2.0', name: 'Anthropic/Python', address: '192.0.2.11' },
  aiSdk: { userAgent: 'ai/7.0.173 ai-sdk/provider-utils/4.0.2 runtime/node.js/26', name: 'ai', address: '192.0.2.13' },
  genai: { userAgent: 'google-genai-sdk/3.3.0 gl-python/3.13', name: 'google-genai-sdk', address: '198.51.100.8' },
  codingAgent: { userAgent: 'claude-cli/3.1.4 (external, cli)', name: 'claude-cli', address: '2001:db8::21' },
} as const satisfies Readonly<Record<string, DemoClient>>;
