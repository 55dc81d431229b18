/** Which provider a path belongs to, and what a path with a wrong base was meant to be. */
import { describe, expect, it } from 'vitest';
import { hasSecretForm } from '../formats/wire/secret-form.ts';
import { PROVIDER_NAMES, type ProviderName } from '../vocabulary/call-record.ts';
import { findCredentialOwner, inferProvider, PROVIDERS, readProviderName } from './registry.ts';

interface Case {
  readonly line: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly provider: ProviderName | null;
  readonly repaired?: string;
}

function infer(line: string, headers: Readonly<Record<string, string>> = {}) {
  const [method = '', target = ''] = line.split(' ');
  const [path = '', query = ''] = target.split('?');
  const inferred = inferProvider({ method, path, query, header: (name) => headers[name] }, null);
  return inferred === null ? null : { provider: inferred.provider.name, repaired: inferred.repairedPath };
}

const VERSION = { 'anthropic-version': '2026-10-21' };
const SIGNED = 'AWS4-HMAC-SHA256 Credential=A/20260101/eu-west-1/bedrock/aws4_request, SignedHeaders=x, Signature=0';
const GOOGLE_KEY = { 'x-goog-api-key': 'PLACEHOLDER' };

const CASES: readonly Case[] = [
  { line: 'POST /v1/messages', provider: 'anthropic' },
  { line: 'POST /v1/messages?beta=true', provider: 'anthropic' },
  { line: 'POST /v1/messages/count_tokens', provider: 'anthropic' },
  { line: 'GET /v1/messages/batches/msgbatch_1/results', provider: 'anthropic' },
  { line: 'POST /v1/complete', provider: 'anthropic' },
  { line: 'GET /v1/models', headers: VERSION, provider: 'anthropic' },
  { line: 'GET /v1/models/claude-haiku-4-5', headers: VERSION, provider: 'anthropic' },
  { line: 'POST /v1/files', headers: VERSION, provider: 'anthropic' },
  { line: 'GET /v1/skills', headers: VERSION, provider: 'anthropic' },
  { line: 'POST /v1beta/models/gemini-2.5-flash:generateContent', provider: 'gemini' },
  { line: 'POST /v1alpha/models/gemini-3-pro-preview:generateContent', provider: 'gemini' },
  { line: 'POST /v1alpha/auth_tokens', provider: 'gemini' },
  { line: 'POST /v1/models/gemini-2.5-flash:streamGenerateContent?alt=sse', provider: 'gemini' },
  { line: 'POST /v1/models/gemini-2.5-flash%3AgenerateContent', provider: 'gemini' },
  { line: 'POST /v1/tunedModels/foo:generateContent', provider: 'gemini' },
  { line: 'POST /v1/interactions', provider: 'gemini' },
  { line: 'GET /v1/interactions/int_1', provider: 'gemini' },
  { line: 'POST /v1beta/openai/chat/completions', provider: 'gemini' },
  { line: 'POST /upload/v1beta/files', provider: 'gemini' },
  { line: 'GET /v1/models', headers: GOOGLE_KEY, provider: 'gemini' },
  { line: 'GET /v1/models?pageSize=5&key=PLACEHOLDER', provider: 'gemini' },
  { line: 'GET /v1/models?monkey=1', provider: 'openai' },
  { line: 'GET /v1/files/abc', headers: GOOGLE_KEY, provider: 'gemini' },
  { line: 'POST /model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse', provider: 'bedrock' },
  { line: 'GET /async-invoke', provider: 'bedrock' },
  { line: 'POST /guardrail/g1/version/1/apply', provider: 'bedrock' },
  { line: 'POST /guardrail-checks/invoke', provider: 'bedrock' },
  { line: 'POST /v1/chat/completions', provider: 'openai' },
  { line: 'POST /v1/chat/completions', headers: VERSION, provider: 'anthropic' },
  { line: 'POST /v1/agents', headers: VERSION, provider: 'anthropic' },
  { line: 'GET /v1/vaults/v_1/credentials', headers: VERSION, provider: 'anthropic' },
  { line: 'POST /v1/whatever/comes/next', headers: VERSION, provider: 'anthropic' },
  { line: 'POST /v1/auth_tokens', headers: GOOGLE_KEY, provider: 'gemini' },
  { line: 'GET /v1/whatever?key=PLACEHOLDER', provider: 'gemini' },
  { line: 'POST /v1/agents', headers: { 'openai-beta': 'agents=v1' }, provider: 'openai' },
  // Its own clients for Bedrock, and others' compatible APIs, get the header too.
  { line: 'POST /model/m/invoke', headers: VERSION, provider: 'bedrock' },
  { line: 'POST /anthropic/v1/messages', headers: VERSION, provider: null },
  { line: 'POST /inference/v1/messages', headers: VERSION, provider: null },
  { line: 'POST /anthropic/v1/messages', headers: { ...VERSION, 'user-agent': 'Anthropic/JS 1.14.0' }, provider: null },
  // Signed for AWS.
  { line: 'POST /v1/messages', headers: { ...VERSION, authorization: SIGNED }, provider: 'bedrock' },
  {
    line: 'POST /v1/messages',
    headers: { authorization: SIGNED.replace('/bedrock/', '/aws-external-anthropic/') },
    provider: 'anthropic',
  },
  { line: 'POST /v1/responses', headers: { host: 'bedrock-mantle.eu-west-1.api.aws' }, provider: 'bedrock' },
  // The name of an SDK, where nothing else tells.
  { line: 'POST /v1/chat/completions', headers: { 'user-agent': 'Together/Python 3.1.1' }, provider: 'together' },
  { line: 'POST /v1/chat/completions', headers: { 'user-agent': 'AsyncFireworks/Python 1.2' }, provider: 'fireworks' },
  { line: 'POST /v1/sessions', headers: { 'user-agent': 'Anthropic/JS 1.14.0' }, provider: 'anthropic' },
  { line: 'GET /v1/whatever', headers: { 'user-agent': 'google-genai-sdk/3.6.1 gl-python/3.11' }, provider: 'gemini' },
  { line: 'POST /v1/chat/completions', headers: { 'user-agent': 'OpenAI/Python 3.57.0' }, provider: 'openai' },
  // OpenAI has no such path, and others do; or a key stands where OpenAI reads none.
  { line: 'POST /v1/sessions', provider: null },
  { line: 'POST /v1/auth_tokens', provider: null },
  { line: 'GET /v1/accounts/a/models', provider: null },
  { line: 'POST /v1/tci/execute', provider: null },
  { line: 'POST /v1/chat/completions', headers: { 'x-api-key': 'PLACEHOLDER' }, provider: null },
  { line: 'POST /v1/responses', provider: 'openai' },
  { line: 'GET /v1/models', provider: 'openai' },
  { line: 'GET /v1/models/ft:gpt-4o-mini-2024-07-18:acme::abc', provider: 'openai' },
  { line: 'DELETE /v1/models/ft:gpt-4o-mini-2024-07-18:acme::abc', provider: 'openai' },
  { line: 'POST /v1/messagesandmore', provider: 'openai' },
  { line: 'POST /v1/files', provider: 'openai' },
  // Ambiguous or nobody's: the header is required.
  { line: 'POST /anthropic/v1/messages', provider: null },
  { line: 'POST /openai/v1/chat/completions', provider: null },
  { line: 'POST /inference/v1/chat/completions', provider: null },
  { line: 'POST /beta/chat/completions', provider: null },
  { line: 'POST /some/prefix/v1/chat/completions', provider: null },
  { line: 'GET /', provider: null },
  { line: 'GET /v1', provider: null },
  { line: 'GET /v1x/models', provider: null },
  { line: 'GET /user/balance', provider: null },
  { line: 'POST /v2/videos', provider: null },
  // Common wrong bases.
  { line: 'POST /v1/v1/messages', provider: 'anthropic', repaired: '/v1/messages' },
  { line: 'POST /v1/v1/messages/count_tokens', provider: 'anthropic', repaired: '/v1/messages/count_tokens' },
  { line: 'POST /messages', provider: 'anthropic', repaired: '/v1/messages' },
  { line: 'GET /v1/v1/models', headers: VERSION, provider: 'anthropic', repaired: '/v1/models' },
  { line: 'POST /chat/completions', provider: 'openai', repaired: '/v1/chat/completions' },
  { line: 'POST /completions', provider: 'openai', repaired: '/v1/completions' },
  { line: 'POST /responses', provider: 'openai', repaired: '/v1/responses' },
  { line: 'GET /responses/resp_1', provider: 'openai', repaired: '/v1/responses/resp_1' },
  { line: 'POST /embeddings', provider: 'openai', repaired: '/v1/embeddings' },
  { line: 'GET /models', provider: 'openai', repaired: '/v1/models' },
  { line: 'POST /v1/v1/chat/completions', provider: 'openai', repaired: '/v1/chat/completions' },
  { line: 'POST /v1/v1/responses', provider: 'openai', repaired: '/v1/responses' },
  { line: 'POST /v1/v1/models/m:generateContent', provider: 'gemini', repaired: '/v1/models/m:generateContent' },
  { line: 'POST /v1beta/v1/models/m:countTokens', provider: 'gemini', repaired: '/v1/models/m:countTokens' },
  { line: 'POST /v1beta/v1beta/models/m:countTokens', provider: 'gemini', repaired: '/v1beta/models/m:countTokens' },
  { line: 'POST /v1/v1beta/models/m:countTokens', provider: 'gemini', repaired: '/v1beta/models/m:countTokens' },
  { line: 'POST /v1beta/upload/v1beta/files', provider: 'gemini', repaired: '/upload/v1beta/files' },
  { line: 'POST /v1/upload/v1/files', provider: 'gemini', repaired: '/upload/v1/files' },
  {
    line: 'GET /v1beta/download/v1beta/files/a:download',
    provider: 'gemini',
    repaired: '/download/v1beta/files/a:download',
  },
  {
    line: 'GET /v1beta/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent',
    provider: 'gemini',
    repaired: '/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent',
  },
  { line: 'POST /models/m:generateContent', provider: 'gemini', repaired: '/v1beta/models/m:generateContent' },
  {
    line: 'POST /v1/model/amazon.nova-lite-v1%3A0/converse',
    provider: 'bedrock',
    repaired: '/model/amazon.nova-lite-v1%3A0/converse',
  },
  // What is repaired keeps every other byte.
  { line: 'GET /v1/v1/files/a%2Fb%20c', provider: 'openai', repaired: '/v1/files/a%2Fb%20c' },
];

describe('inferProvider', () => {
  it.each(CASES)('reads $line as $provider', ({ line, headers, provider, repaired }) => {
    expect(infer(line, headers)).toEqual(provider === null ? null : { provider, repaired: repaired ?? null });
  });

  it('lets a credential that tells its provider decide on every path', () => {
    const line = { method: 'POST', query: '', header: () => undefined };
    for (const path of [
      '/v1/messages',
      '/v1beta/models/m:generateContent',
      '/model/m/converse',
      '/v1/x',
      '/anthropic/v1/x',
    ])
      for (const owner of PROVIDER_NAMES) expect(inferProvider({ ...line, path }, owner)?.provider.name).toBe(owner);
  });
});

/** Beginnings of credentials, or whole ones where the form needs it, and who gives them out. */
const CREDENTIALS: readonly (readonly [string, ProviderName])[] = [
  ['sk-ant-api03-abc', 'anthropic'],
  ['sk-ant-oat01-abc', 'anthropic'],
  ['aws-external-anthropic-api-key-YXdz', 'anthropic'],
  ['AEAAQWVhQXBpS2V5LWFiY2RlZg', 'anthropic'],
  ['AIzaSyA-abc', 'gemini'],
  ['AQ.Ab8RN6abc', 'gemini'],
  ['ya29.a0Aabc', 'gemini'],
  ['auth_tokens/abc', 'gemini'],
  ['bedrock-api-key-YmVk', 'bedrock'],
  ['ABSKQmVkcm9jaw==', 'bedrock'],
  ['fw_3ZabcDEF', 'fireworks'],
  ['tgp_v1_abc', 'together'],
  ['0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef', 'together'],
  ['sk-0123456789abcdef0123456789abcdef', 'deepseek'],
  ['sk-proj-abc', 'openai'],
  ['sk-svcacct-abc', 'openai'],
  ['sk-admin-abc', 'openai'],
  ['sk-abcdefghijklmnopqrstT3BlbkFJabcdefghijklmnopqrst', 'openai'],
  ['ek_68af296e8e408191a1120ab6383263c2', 'openai'],
];

describe('findCredentialOwner', () => {
  it.each<readonly [string, ProviderName | null]>([
    ...CREDENTIALS,
    // Several providers, or none, give out such ones.
    ['sk-abc', null],
    ['sk-or-v1-abc', null],
    ['eyJhbGciOi.eyJzdWIiOi.c2ln', null],
    ['abc', null],
    ['', null],
    // The proxy passes these by without asking.
    ['01a22b99-6db3-717b-8b4d-05be6567110f', null],
    ['01A22B99-6DB3-717B-8B4D-05BE6567110F', null],
  ])('reads %s as %s', (text, owner) => {
    expect(findCredentialOwner(text)).toBe(owner);
  });
});

/** `wire/secret-form.ts` has forms of its own, which are wider: what tells a provider must be among them. */
it.each(CREDENTIALS)('%s, which tells that it is of %s, has the form of a credential', (text) => {
  expect(hasSecretForm(text) || hasSecretForm(`${text}0123456789abcdefABCDEF`)).toBe(true);
});

describe('readProviderName', () => {
  it('accepts a name in any case and with spaces around', () => {
    expect(
      ['openai', ' Anthropic ', 'GEMINI', 'bedrock\t', 'FireWorks', 'together', 'DeepSeek'].map(readProviderName),
    ).toEqual(['openai', 'anthropic', 'gemini', 'bedrock', 'fireworks', 'together', 'deepseek']);
  });

  it('refuses everything else', () => {
    for (const text of ['', 'google', 'open ai', 'openai,anthropic', 'constructor', '__proto__', 'openaı']) {
      expect(readProviderName(text)).toBeNull();
    }
  });
});

describe('PROVIDERS', () => {
  it('holds each provider under its own name, frozen', () => {
    for (const [name, provider] of Object.entries(PROVIDERS)) {
      expect(provider.name).toBe(name);
      expect(Object.isFrozen(provider)).toBe(true);
    }
  });

  it('knows where each is', () => {
    expect(Object.fromEntries(Object.values(PROVIDERS).map(({ name, origin }) => [name, origin(null)]))).toMatchObject({
      openai: 'https://api.openai.com',
      anthropic: 'https://api.anthropic.com',
      gemini: 'https://generativelanguage.googleapis.com',
      bedrock: 'https://bedrock-runtime.us-east-1.amazonaws.com',
      fireworks: 'https://api.fireworks.ai',
      together: 'https://api.together.ai',
      deepseek: 'https://api.deepseek.com',
    });
  });
});
