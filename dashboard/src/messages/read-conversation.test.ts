import { expect, test } from 'vitest';
import type { Part } from './conversation.ts';
import { countSharedMessages, matchToolResults, readConversation } from './read-conversation.ts';

function partsOf(endpoint: string, request: unknown): readonly Part[] {
  return (readConversation({ endpoint, request, response: null })?.messages ?? []).flatMap(({ parts }) => parts);
}

test('a tool call is joined with its result, also when an id comes again', () => {
  const call = (road: string) => ({
    role: 'assistant',
    tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'toll', arguments: `{"road":"${road}"}` } }],
  });
  const result = (text: string) => ({ role: 'tool', tool_call_id: 'call_1', content: text });
  const messages =
    readConversation({
      endpoint: 'chat.completions',
      request: { messages: [call('A1'), result('one'), call('A2'), result('two'), result('nobody asked')] },
      response: null,
    })?.messages ?? [];
  const { resultOf, callOf } = matchToolResults(messages);
  expect([...resultOf].map(([{ arguments: given }, { parts }]) => [given, parts])).toEqual([
    [{ road: 'A1' }, [{ type: 'text', text: 'one', cacheMark: null }]],
    [{ road: 'A2' }, [{ type: 'text', text: 'two', cacheMark: null }]],
  ]);
  expect(callOf.size).toBe(2);
});

test('Gemini’s calls without ids are joined by name and order', () => {
  const messages =
    readConversation({
      endpoint: 'generateContent',
      request: {
        contents: [
          {
            role: 'model',
            parts: [
              { functionCall: { name: 'toll', args: { road: 'A1' } } },
              { functionCall: { name: 'toll', args: { road: 'A2' } } },
            ],
          },
          {
            role: 'user',
            parts: [
              { functionResponse: { name: 'toll', response: { eur: 1 } } },
              { functionResponse: { name: 'toll', response: { eur: 2 } } },
            ],
          },
        ],
      },
      response: null,
    })?.messages ?? [];
  expect(messages.map(({ role }) => role)).toEqual(['assistant', 'tool']);
  const answers = [...matchToolResults(messages).resultOf].map(([{ arguments: given }, { parts }]) => [
    given,
    parts[0],
  ]);
  expect(answers).toEqual([
    [{ road: 'A1' }, { type: 'unknown', label: 'response', value: { eur: 1 }, cacheMark: null }],
    [{ road: 'A2' }, { type: 'unknown', label: 'response', value: { eur: 2 }, cacheMark: null }],
  ]);
});

test('arguments that are not JSON stay the text they are', () => {
  const [part] = partsOf('chat.completions', {
    messages: [{ role: 'assistant', tool_calls: [{ id: 'c', function: { name: 'f', arguments: '{"road":' } }] }],
  });
  expect(part).toMatchObject({ type: 'tool_call', name: 'f', arguments: '{"road":' });
});

test('an image in a data URL keeps type and content; one elsewhere is only named', () => {
  const image = (url: string) => ({ type: 'image_url', image_url: { url } });
  const parts = partsOf('chat.completions', {
    messages: [{ role: 'user', content: [image('data:image/png;base64,AAAA'), image('https://example.com/a.png')] }],
  });
  expect(parts).toMatchObject([
    { type: 'media', kind: 'image', mediaType: 'image/png', base64: 'AAAA', reference: null },
    { type: 'media', kind: 'image', mediaType: null, base64: null, reference: 'https://example.com/a.png' },
  ]);
});

test('cache marks stand where they were set', () => {
  expect(
    partsOf('messages', {
      system: [{ type: 'text', text: 'long', cache_control: { type: 'ephemeral', ttl: '1h' } }],
      messages: [{ role: 'user', content: 'hi' }],
    }).map(({ cacheMark }) => cacheMark),
  ).toEqual(['ephemeral, 1h', null]);
  expect(
    partsOf('converse', {
      system: [{ text: 'long' }, { cachePoint: { type: 'default' } }],
      messages: [{ role: 'user', content: [{ text: 'hi' }] }],
    }).map(({ cacheMark }) => cacheMark),
  ).toEqual(['default', null]);
});

test('offered tools keep their schemas', () => {
  const schema = { type: 'object' };
  const tools = (endpoint: string, body: object) =>
    readConversation({ endpoint, request: { ...body }, response: null })?.tools.map(({ name, schema: given }) => [
      name,
      given,
    ]);
  const user = [{ role: 'user', content: 'hi' }];
  expect(
    tools('chat.completions', {
      messages: user,
      tools: [{ type: 'function', function: { name: 'f', parameters: schema } }],
    }),
  ).toEqual([['f', schema]]);
  expect(tools('messages', { messages: user, tools: [{ name: 'f', input_schema: schema }] })).toEqual([['f', schema]]);
  expect(tools('responses', { input: 'hi', tools: [{ type: 'web_search' }] })).toEqual([['web_search', {}]]);
  expect(
    tools('generateContent', {
      contents: [{ parts: [{ text: 'hi' }] }],
      tools: [{ functionDeclarations: [{ name: 'f', parameters: schema }] }, { googleSearch: {} }],
    }),
  ).toEqual([
    ['f', schema],
    ['googleSearch', {}],
  ]);
});

test('the Responses API: instructions, reasoning, a call and its result', () => {
  const conversation = readConversation({
    endpoint: 'responses',
    request: {
      instructions: 'Be short.',
      previous_response_id: 'resp_1',
      input: [
        { role: 'user', content: [{ type: 'input_text', text: 'toll?' }] },
        { type: 'reasoning', summary: [{ type: 'summary_text', text: 'hm' }] },
        { type: 'function_call', call_id: 'c1', name: 'toll', arguments: '{}' },
        { type: 'function_call_output', call_id: 'c1', output: '3 EUR' },
      ],
    },
    response: {
      object: 'response',
      status: 'completed',
      output: [{ type: 'message', role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] }],
    },
  });
  expect(conversation?.messages.map(({ role, parts }) => [role, parts.map(({ type }) => type)])).toEqual([
    ['system', ['text']],
    ['user', ['text']],
    ['assistant', ['reasoning', 'tool_call']],
    ['tool', ['tool_result']],
    ['assistant', ['refusal']],
  ]);
  expect(conversation?.notes).toEqual([
    'It goes on from the answer resp_1: what was said before is kept by the provider.',
  ]);
});

test('a body under an unknown path is recognised by its looks; one that says nothing is no conversation', () => {
  const claude = { anthropic_version: 'bedrock-2023-05-31', messages: [{ role: 'user', content: 'hi' }] };
  expect(readConversation({ endpoint: 'invoke', request: claude, response: null })?.format).toBe('messages');
  expect(readConversation({ endpoint: 'embeddings', request: { input: 'hi' }, response: { data: [] } })).toBeNull();
  for (const nothing of [null, undefined, 7, 'text', [], {}, { messages: 'no' }])
    expect(readConversation({ endpoint: 'chat.completions', request: nothing, response: nothing })).toBeNull();
});

test('hostile shapes are shown as what they are', () => {
  const request: unknown = JSON.parse(
    '{"__proto__":{"messages":1},"messages":[{"role":"__proto__","content":[{"type":"constructor","__proto__":{"x":1}},7,null]},null,[]]}',
  );
  const messages = readConversation({ endpoint: 'chat.completions', request, response: null })?.messages;
  expect(messages?.[0]).toMatchObject({ role: 'other', name: '__proto__' });
  expect(messages?.[0]?.parts.map((part) => part.type)).toEqual(['unknown', 'unknown', 'unknown']);
  expect(Object.hasOwn(Object.prototype, 'x')).toBe(false);
});

test('nesting without end does no harm', () => {
  const deep = (levels: number, open: string, close: string) => JSON.parse(open.repeat(levels) + close.repeat(levels));
  const content: unknown = deep(5_000, '[', ']');
  const result = (inner: unknown): unknown => [{ type: 'tool_result', tool_use_id: 't', content: inner }];
  let nested: unknown = 'x';
  for (let level = 0; level < 100; level += 1) nested = result(nested);
  expect(partsOf('messages', { messages: [{ role: 'user', content: nested }] })).toHaveLength(1);
  expect(partsOf('chat.completions', { messages: [{ role: 'user', content }] })).toHaveLength(1);
});

test('what a call repeats of the call before it is counted', () => {
  const question = { role: 'user', content: 'hi' };
  const answer = { role: 'assistant', content: 'hello' };
  const read = (messages: readonly unknown[], response: unknown) =>
    readConversation({ endpoint: 'chat.completions', request: { messages }, response })?.messages ?? [];
  const before = read([question], { choices: [{ message: answer, finish_reason: 'stop' }] });
  const now = read([question, answer, { role: 'user', content: 'more' }], null);
  expect(countSharedMessages(before, now)).toBe(2);
  expect(countSharedMessages(before, read([{ role: 'user', content: 'other' }], null))).toBe(0);
});
