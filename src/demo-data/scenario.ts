/**
 * What a scenario is: a tree of steps and calls as data, with the texts of an invented company. Times and exact counts
 * are the engine's, drawn from a seed. `{n}` in a text is the number of a repetition, `{item}` its item.
 */
import type { JsonObject } from '../token-usage.ts';
import type { DemoFailure } from './demo-failures.ts';
import type { DemoModelName } from './demo-models.ts';
import type { ToolSpec } from './exchange.ts';

export interface DemoCall {
  /** Name of the leaf; without one it is named after its model. */
  readonly call?: string;
  readonly model: DemoModelName;
  /** What the user's side says. Without it the call goes on from the one before in its step, with `results`. */
  readonly ask?: string;
  /** Of the tools that the call before used, in their order. */
  readonly results?: readonly string[];
  readonly say?: string;
  readonly think?: string;
  readonly use?: readonly { readonly tool: string; readonly input: JsonObject }[];
  /** Tokens, about: uncached input, read from a cache, written to one, output with its reasoning. */
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
  /** Tries that fail before this one, which the client's SDK repeats by itself. */
  readonly failsFirst?: readonly DemoFailure[];
  /** The client goes away in the middle of the answer. */
  readonly leaves?: true;
}

export interface DemoStep {
  readonly step: string;
  readonly nodes: readonly DemoNode[];
  /** Its nodes begin at the same time, not one after another. */
  readonly parallel?: true;
  readonly times?: number;
  readonly items?: readonly string[];
  /** The repetitions run beside each other, so many at a time; one after another without it. */
  readonly beside?: number;
}

export type DemoNode = DemoCall | DemoStep;

export interface DemoClient {
  readonly userAgent: string;
  /** Of those that are set aside for examples (RFC 5737, RFC 3849). */
  readonly address: string;
  /** As the gateway derives it from the user agent. */
  readonly name: string;
}

export interface DemoRun {
  readonly traceId: string;
  /** When it began, before the moment of loading. */
  readonly hoursAgo: number;
  readonly client: DemoClient;
  readonly metadata: Readonly<Record<string, string>>;
  readonly system: string;
  readonly tools?: readonly ToolSpec[];
  readonly nodes: readonly DemoNode[];
}

export const DEMO_CLIENTS = {
  openaiPython: { userAgent: 'OpenAI/Python 2.8.1', name: 'OpenAI/Python', address: '192.0.2.11' },
  openaiNode: { userAgent: 'OpenAI/JS 7.59.0', name: 'OpenAI/JS', address: '192.0.2.12' },
  anthropicPython: { userAgent: 'Anthropic/Python 1.2.0', name: 'Anthropic/Python', address: '192.0.2.11' },
  aiSdk: { userAgent: 'ai/7.0.173 ai-sdk/provider-utils/4.0.2 runtime/node.js/26', name: 'ai', address: '192.0.2.13' },
  boto: { userAgent: 'Boto3/1.43.4 md/Botocore#1.43.4', name: 'Boto3', address: '198.51.100.7' },
  genai: { userAgent: 'google-genai-sdk/3.3.0 gl-python/3.13', name: 'google-genai-sdk', address: '198.51.100.8' },
  codingAgent: { userAgent: 'claude-cli/3.1.4 (external, cli)', name: 'claude-cli', address: '2001:db8::21' },
} as const satisfies Readonly<Record<string, DemoClient>>;
