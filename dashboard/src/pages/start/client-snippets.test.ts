import { describe, expect, test } from 'vitest';
import { listSnippets } from './client-snippets.ts';
import type { SnippetSettings } from './snippet-words.ts';

const PLAIN: SnippetSettings = {
  baseUrl: 'http://127.0.0.1:4141',
  keyPlaceholder: '$TOLLGATE_KEY',
  withMetadata: false,
  withRun: false,
};

function codeOf(id: string, settings: Partial<SnippetSettings> = {}): string {
  const found = listSnippets({ ...PLAIN, ...settings }).find((snippet) => snippet.id === id);
  if (found === undefined) throw new Error(`no snippet ${id}`);
  return found.code;
}

describe('the snippets of Get started', () => {
  test('are offered for these clients, in this order', () => {
    expect(listSnippets(PLAIN).map(({ label }) => label)).toEqual([
      'Environment only',
      'OpenAI SDK, Python',
      'OpenAI SDK, Node',
      'Anthropic SDK, Python',
      'Anthropic SDK, Node',
      'Google Gen AI SDK, Python',
      'Google Gen AI SDK, Node',
      'curl',
      'Vercel AI SDK',
      'LangChain, JavaScript',
      'LangChain, Python',
      'Claude Code',
      'Codex',
      'Gemini CLI',
      'Bedrock, boto3',
      'Bedrock, AWS SDK for JavaScript',
    ]);
  });

  test('name the base address with /v1 for OpenAI-style clients, without it for the others', () => {
    expect(codeOf('openai-node')).toContain('baseURL: "http://127.0.0.1:4141/v1",');
    expect(codeOf('anthropic-python')).toContain('base_url="http://127.0.0.1:4141",');
    expect(codeOf('gemini-node')).toContain('baseUrl: "http://127.0.0.1:4141",');
    expect(codeOf('bedrock-boto3')).toContain('endpoint_url="http://127.0.0.1:4141")');
  });

  test('read the key from the variable, in the way of each language', () => {
    expect(codeOf('openai-node')).toContain('"X-Gateway-Key": process.env.TOLLGATE_KEY,');
    expect(codeOf('openai-python')).toContain('"X-Gateway-Key": os.environ["TOLLGATE_KEY"],');
    expect(codeOf('curl')).toContain('-H "X-Gateway-Key: $TOLLGATE_KEY"');
    expect(codeOf('codex')).toContain('env_http_headers = { "X-Gateway-Key" = "TOLLGATE_KEY" }');
  });

  test('contain a key that was just made, and then need no variable', () => {
    const keyPlaceholder = 'tgk_abc';
    for (const { id, code } of listSnippets({ ...PLAIN, keyPlaceholder })) {
      expect([id, code.includes('tgk_abc')]).toEqual([id, true]);
      expect([id, code.includes('TOLLGATE_KEY')]).toEqual([id, false]);
    }
    expect(codeOf('openai-python', { keyPlaceholder })).not.toContain('import os');
    expect(codeOf('codex', { keyPlaceholder })).toContain('http_headers = { "X-Gateway-Key" = "tgk_abc" }');
  });

  test('have neither metadata nor a run unless asked, and each only when asked', () => {
    for (const { code } of listSnippets(PLAIN)) expect(code).not.toMatch(/Feature|Trace-Id|Span-Path|uuid|UUID/);
    for (const { id, code } of listSnippets({ ...PLAIN, withMetadata: true })) {
      expect([id, code.includes('X-Gateway-Feature')]).toEqual([id, true]);
      expect([id, code.includes('Trace-Id')]).toEqual([id, false]);
    }
    for (const { id, code } of listSnippets({ ...PLAIN, withRun: true })) {
      expect([id, code.includes('X-Gateway-Trace-Id')]).toEqual([id, true]);
      expect([id, code.includes('plan/search%201')]).toEqual([id, true]);
    }
  });

  test('end neither lines with blanks nor themselves with an empty line', () => {
    for (const { code } of listSnippets({ ...PLAIN, withMetadata: true, withRun: true })) {
      expect(code).not.toMatch(/[ \t]$/m);
      expect(code.endsWith('\n')).toBe(false);
    }
  });

  test('one is, in full, this', () => {
    expect(codeOf('openai-node', { withMetadata: true, withRun: true })).toBe(`import OpenAI from "openai";

const openai = new OpenAI({
  baseURL: "http://127.0.0.1:4141/v1",
  defaultHeaders: {
    "X-Gateway-Key": process.env.TOLLGATE_KEY,
    "X-Gateway-Feature": "checkout",
    "X-Gateway-User-Id": "user-42",
  },
});
const traceId = crypto.randomUUID(); // the same for all calls of one run

const answer = await openai.chat.completions.create(
  { model: "gpt-5.4-mini", messages: [{ role: "user", content: "Say hello." }] },
  {
    headers: {
      "X-Gateway-Trace-Id": traceId,
      "X-Gateway-Span-Path": "plan/search%201",
    },
  },
);
console.log(answer.choices[0].message.content);`);
  });
});
