/** The models that the demo data is made of: where each is called, what serves it, and how quick it is. Plain data. */
import type { ProviderName } from '../call-record.ts';

export interface DemoModel {
  readonly provider: ProviderName;
  /** As a client sends it; the model's own version stands in it for some providers. */
  readonly path: string;
  readonly streamPath: string;
  readonly requested: string;
  readonly served: string;
  readonly firstTokenMs: number;
  readonly tokensPerSecond: number;
  /** The provider reports that it wrote to its cache, and charges for it. */
  readonly writesCache: boolean;
}

type ModelRow = Omit<DemoModel, 'streamPath' | 'writesCache'> & Partial<DemoModel>;

function model(row: ModelRow): DemoModel {
  return Object.freeze({ streamPath: row.path, writesCache: false, ...row });
}

function gemini(name: string, firstTokenMs: number, tokensPerSecond: number): DemoModel {
  const path = `/v1beta/models/${name}`;
  return model({
    provider: 'gemini',
    path: `${path}:generateContent`,
    streamPath: `${path}:streamGenerateContent?alt=sse`,
    requested: name,
    served: name,
    ...{ firstTokenMs, tokensPerSecond },
  });
}

function bedrock(id: string, writesCache: boolean, firstTokenMs: number, tokensPerSecond: number): DemoModel {
  const path = `/model/${encodeURIComponent(id)}/converse`;
  return model({ provider: 'bedrock', path, requested: id, served: id, writesCache, firstTokenMs, tokensPerSecond });
}

const RESPONSES = '/v1/responses';
const CHAT = '/v1/chat/completions';
const MESSAGES = '/v1/messages';

export const DEMO_MODELS = {
  'gpt-5.4': model({
    ...{ provider: 'openai', path: RESPONSES, requested: 'gpt-5.4', served: 'gpt-5.4-2026-03-05' },
    ...{ firstTokenMs: 900, tokensPerSecond: 75 },
  }),
  'gpt-5.4-mini': model({
    ...{ provider: 'openai', path: RESPONSES, requested: 'gpt-5.4-mini', served: 'gpt-5.4-mini-2026-03-17' },
    ...{ firstTokenMs: 420, tokensPerSecond: 140 },
  }),
  'gpt-5.4-mini chat': model({
    ...{ provider: 'openai', path: CHAT, requested: 'gpt-5.4-mini', served: 'gpt-5.4-mini-2026-03-17' },
    ...{ firstTokenMs: 400, tokensPerSecond: 140 },
  }),
  'claude-opus-5': model({
    ...{ provider: 'anthropic', path: MESSAGES, requested: 'claude-opus-5', served: 'claude-opus-5' },
    ...{ firstTokenMs: 1_300, tokensPerSecond: 62, writesCache: true },
  }),
  'claude-sonnet-5': model({
    ...{ provider: 'anthropic', path: MESSAGES, requested: 'claude-sonnet-5', served: 'claude-sonnet-5' },
    ...{ firstTokenMs: 820, tokensPerSecond: 85, writesCache: true },
  }),
  'claude-haiku-4-5': model({
    ...{ provider: 'anthropic', path: MESSAGES, requested: 'claude-haiku-4-5', served: 'claude-haiku-4-5-20251001' },
    ...{ firstTokenMs: 480, tokensPerSecond: 150, writesCache: true },
  }),
  'gemini-3.5-flash': gemini('gemini-3.5-flash', 380, 180),
  'gemini-3.1-pro': gemini('gemini-3.1-pro-preview', 1_100, 90),
  'bedrock-sonnet': bedrock('us.anthropic.claude-sonnet-4-5-20250929-v1:0', true, 950, 70),
  'bedrock-nova': bedrock('us.amazon.nova-lite-v1:0', false, 340, 160),
  'deepseek-v4': model({
    ...{ provider: 'deepseek', path: '/chat/completions', requested: 'deepseek-v4-flash', served: 'deepseek-v4-flash' },
    ...{ firstTokenMs: 600, tokensPerSecond: 95 },
  }),
  /** A model of the invented company's own: no price book knows it. */
  'own-tuned': model({
    ...{
      provider: 'together',
      path: CHAT,
      requested: 'alderfinch/reviews-tuned-8b',
      served: 'alderfinch/reviews-tuned-8b',
    },
    ...{ firstTokenMs: 310, tokensPerSecond: 190 },
  }),
} as const satisfies Readonly<Record<string, DemoModel>>;

export type DemoModelName = keyof typeof DEMO_MODELS;
