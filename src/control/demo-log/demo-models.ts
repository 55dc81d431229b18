/** The models of the demo data: endpoint, serving model and speed. */
import type { ProviderName } from '../../vocabulary/call-record.ts';

export interface DemoModel {
  readonly provider: ProviderName;
  readonly path: string;
  readonly streamPath: string;
  readonly requested: string;
  readonly served: string;
  readonly firstTokenMs: number;
  readonly tokensPerSecond: number;
  /** The provider reports and charges writes to its cache. */
  readonly writesCache: boolean;
  /** False for Bedrock, whose streams are binary frames. */
  readonly canStream: boolean;
}

function model(
  provider: ProviderName,
  path: string,
  [requested, served = requested]: readonly [string, string?],
  firstTokenMs: number,
  tokensPerSecond: number,
): DemoModel {
  return {
    provider,
    path,
    streamPath: path,
    requested,
    served,
    firstTokenMs,
    tokensPerSecond,
    writesCache: requested.includes('claude'),
    canStream: true,
  };
}

function gemini(name: string, firstTokenMs: number, tokensPerSecond: number): DemoModel {
  const path = `/v1beta/models/${name}`;
  return {
    ...model('gemini', `${path}:generateContent`, [name], firstTokenMs, tokensPerSecond),
    streamPath: `${path}:streamGenerateContent?alt=sse`,
  };
}

function bedrock(id: string, firstTokenMs: number, tokensPerSecond: number): DemoModel {
  const path = `/model/${encodeURIComponent(id)}/converse`;
  return { ...model('bedrock', path, [id], firstTokenMs, tokensPerSecond), canStream: false };
}

const RESPONSES = '/v1/responses';
const CHAT = '/v1/chat/completions';
const MESSAGES = '/v1/messages';
const GPT_MINI = ['gpt-5.4-mini', 'gpt-5.4-mini-2026-03-17'] as const;

export const DEMO_MODELS = {
  'gpt-5.4': model('openai', RESPONSES, ['gpt-5.4', 'gpt-5.4-2026-03-05'], 900, 75),
  'gpt-5.4-mini': model('openai', RESPONSES, GPT_MINI, 420, 140),
  'gpt-5.4-mini chat': model('openai', CHAT, GPT_MINI, 400, 140),
  'claude-opus-5': model('anthropic', MESSAGES, ['claude-opus-5'], 1_300, 62),
  'claude-sonnet-5': model('anthropic', MESSAGES, ['claude-sonnet-5'], 820, 85),
  'claude-haiku-4-5': model('anthropic', MESSAGES, ['claude-haiku-4-5', 'claude-haiku-4-5-20251001'], 480, 150),
  'gemini-3.5-flash': gemini('gemini-3.5-flash', 380, 180),
  'gemini-3.1-pro': gemini('gemini-3.1-pro-preview', 1_100, 90),
  'bedrock-sonnet': bedrock('us.anthropic.claude-sonnet-4-5-20250929-v1:0', 950, 70),
  'deepseek-v4': model('deepseek', '/chat/completions', ['deepseek-v4-flash'], 600, 95),
  /** An invented model that no price book knows. */
  'own-tuned': model('together', CHAT, ['alderfinch/reviews-tuned-8b'], 310, 190),
} as const satisfies Readonly<Record<string, DemoModel>>;

export type DemoModelName = keyof typeof DEMO_MODELS;
