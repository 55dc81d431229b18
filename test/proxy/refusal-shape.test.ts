/** A refusal of the gateway's own, as each official client shows it. */
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import Together from 'together-ai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type InProcessProxy, startProxy } from './start-proxy.ts';

let proxy: InProcessProxy;
beforeAll(async () => {
  proxy = await startProxy('http://127.0.0.1:1');
});
afterAll(() => proxy.close());

async function codeOf(path: string, headers: Record<string, string> = {}): Promise<unknown> {
  const response = await fetch(proxy.base + path, { method: 'POST', headers, body: '{}' });
  return JSON.parse(await response.text()).error.code;
}

test('error.code is the gateway’s word for everybody, and the status where Google’s clients read a number', async () => {
  expect(await codeOf('/v1/chat/completions')).toBe('key_missing');
  expect(await codeOf('/v1/messages')).toBe('key_missing');
  expect(await codeOf('/model/m/converse')).toBe('key_missing');
  expect(await codeOf('/nobody/has/this')).toBe('key_missing');
  expect(await codeOf('/v1beta/openai/chat/completions')).toBe('key_missing');
  expect(await codeOf('/v1beta/models/m:generateContent')).toBe(401);
  expect(await codeOf('/v1/models/m:generateContent')).toBe(401);
  expect(await codeOf('/v1/auth_tokens', { 'x-goog-api-key': 'k' })).toBe(401);
  expect(await codeOf('/upload/v1beta/files')).toBe(401);
  expect(await codeOf('/anything', { 'x-gateway-provider': 'gemini' })).toBe(401);
  expect(await codeOf('/v1beta/models/m:generateContent', { 'x-gateway-provider': 'openai' })).toBe('key_missing');
});

test('the official SDKs show the sentence, and the code in its own type', async () => {
  const settings = { maxRetries: 0, apiKey: 'sk-test' };
  const messages = [{ role: 'user' as const, content: 'Hi' }];
  const openai = new OpenAI({ ...settings, baseURL: `${proxy.base}/v1` });
  await expect(openai.chat.completions.create({ model: 'm', messages })).rejects.toMatchObject({
    status: 401,
    code: 'key_missing',
    type: 'authentication_error',
    message: expect.stringContaining('401 No gateway key'),
  });
  const together = new Together({ ...settings, baseURL: `${proxy.base}/v1` });
  await expect(together.chat.completions.create({ model: 'm', messages })).rejects.toMatchObject({
    status: 401,
    message: expect.stringContaining('No gateway key'),
  });
  const anthropic = new Anthropic({ ...settings, baseURL: proxy.base });
  await expect(anthropic.messages.create({ model: 'm', max_tokens: 1, messages })).rejects.toMatchObject({
    status: 401,
    error: { type: 'error', error: { type: 'authentication_error', code: 'key_missing' } },
  });
  const gemini = new GoogleGenAI({ apiKey: 'k', httpOptions: { baseUrl: proxy.base } });
  await expect(gemini.models.generateContent({ model: 'm', contents: 'Hi' })).rejects.toMatchObject({
    status: 401,
    message: expect.stringContaining('No gateway key'),
  });
});
