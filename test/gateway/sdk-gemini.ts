/** The tests of `@google/genai`: generateContent, whole and as a stream. */
import { GoogleGenAI, Type } from '@google/genai';
import { expect } from 'vitest';
import { collect, KEY_MESSAGE, REFUSED_RECORD, retryAfterOfConnection, type SdkCase, testSdk } from './sdk-cases.ts';
import type { SdkCall, SdkComparison, SdkConnection } from './sdk-comparison.ts';

/** This SDK tries once unless it is told otherwise. */
function connect({ origin, headers, retries, fetch }: SdkConnection): GoogleGenAI {
  const retryOptions = retries === 0 ? {} : { retryOptions: { attempts: retries + 1, initialDelay: 0.005 } };
  return new GoogleGenAI({
    apiKey: 'gemini-placeholder',
    httpOptions: { baseUrl: origin, headers: { ...headers }, fetch, ...retryOptions },
  });
}

const MODEL = 'gemini-2.5-flash';
const generate: SdkCall = async (at) => {
  const answer = await connect(at).models.generateContent({ model: MODEL, contents: 'Introduce the demo.' });
  return { text: answer.text, usage: answer.usageMetadata, id: answer.responseId };
};

const PRICED = {
  provider: 'gemini',
  outcome: 'ok',
  model: 'gemini-2.5-flash',
  model_requested: 'gemini-2.5-flash',
  usage_source: 'provider',
  cost_status: 'exact',
} as const;

const CASES: readonly SdkCase[] = [
  {
    title: 'generateContent',
    answer: 'gemini/generate',
    call: generate,
    result: { text: 'Tollgate demo: one header in front, nothing else changed. ✨', id: 'demoResponse0001' },
    record: {
      ...PRICED,
      endpoint: 'generateContent',
      path: '/v1/models/gemini-2.5-flash:generateContent',
      streamed: false,
      attempt: null,
      input_tokens: 9,
      output_tokens: 14,
      // 9 × 0.3 + 14 × 2.5 per million
      total_cost: '0.0000377',
    },
  },
  {
    title: 'generateContentStream',
    answer: 'gemini/stream-sse',
    call: async (at) => {
      const stream = await connect(at).models.generateContentStream({ model: MODEL, contents: 'Introduce the demo.' });
      return (await collect(stream)).map((chunk) => ({ text: chunk.text, usage: chunk.usageMetadata }));
    },
    result: [
      { text: 'Tollgate demo: die Maut ' },
      { text: 'für Token – ' },
      { text: '日本語もどうぞ 🎌.', usage: { candidatesTokenCount: 21, thoughtsTokenCount: 31 } },
    ],
    record: {
      ...PRICED,
      endpoint: 'streamGenerateContent',
      path: '/v1/models/gemini-2.5-flash:streamGenerateContent?alt=sse',
      streamed: true,
      input_tokens: 9,
      output_tokens: 52,
      reasoning_tokens: 31,
      // 9 × 0.3 + (21 + 31) × 2.5 per million
      total_cost: '0.0001327',
    },
  },
  {
    title: 'a tool call',
    answer: 'gemini/generate-tool-call',
    call: async (at) => {
      const answer = await connect(at).models.generateContent({
        model: MODEL,
        contents: 'What is the toll on the A1?',
        config: {
          tools: [
            {
              functionDeclarations: [
                {
                  name: 'read_toll',
                  parameters: { type: Type.OBJECT, properties: { road: { type: Type.STRING } } },
                },
              ],
            },
          ],
        },
      });
      return { calls: answer.functionCalls };
    },
    result: { calls: [{ name: 'read_toll', args: { road: 'A1' } }] },
    record: {
      ...PRICED,
      endpoint: 'generateContent',
      input_tokens: 61,
      output_tokens: 74,
      reasoning_tokens: 58,
      // 61 × 0.3 + (16 + 58) × 2.5 per million
      total_cost: '0.0002033',
    },
  },
  {
    title: 'a model that does not exist',
    answer: 'gemini/error-404',
    call: (at) => connect(at).models.generateContent({ model: 'gemini-nonesuch', contents: 'Hello?' }),
    error: {
      name: 'ApiError',
      message: expect.stringContaining('models/gemini-nonesuch is not found for API version v1'),
      status: 404,
    },
    record: {
      ...REFUSED_RECORD,
      provider: 'gemini',
      endpoint: 'generateContent',
      model_requested: 'gemini-nonesuch',
      status: 404,
      error_type: 'NOT_FOUND',
    },
  },
];

export function testGemini(started: () => SdkComparison): void {
  testSdk(started, {
    name: '@google/genai',
    cases: CASES,
    limit: {
      call: generate,
      limited: 'gemini/error-429',
      limitedHeaders: { 'retry-after': '34' },
      error: {
        name: 'ApiError',
        message: expect.stringContaining('You exceeded your current quota. Please retry in 34s.'),
      },
      retryAfter: { value: '34', read: retryAfterOfConnection },
      record: { error_type: 'RESOURCE_EXHAUSTED', attempt: null },
      retryHeaders: {},
      answer: 'gemini/generate',
      attempts: [null, null],
      // 9 × 0.3 + 14 × 2.5 per million
      totalCost: '0.0000377',
    },
    refusal: { name: 'ApiError', message: expect.stringContaining(KEY_MESSAGE), status: 401 },
  });
}
