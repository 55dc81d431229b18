import { describe, expect, test } from 'vitest';
import type { PlainBody } from './call-texts.ts';
import { readFirstToolCall } from './first-tool-call.ts';

const ID = 'toolu_01B6fKfDIJfVeA3tLzsRhTC2';
const LATER = 'toolu_01Hyvpckun9X7rnVhSXwUu1j';
const SEAL = 'NREs/lYX9CP+'.repeat(10);

function body(value: unknown, contentType = 'application/json'): PlainBody {
  return {
    head: Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)),
    tail: null,
    contentType,
  };
}

function events(...values: readonly unknown[]): PlainBody {
  return body(values.map((value) => `data: ${JSON.stringify(value)}\n\n`).join(''), 'text/event-stream');
}

const HELLO = body({ messages: [{ role: 'user', content: 'STOP' }] });
const ofRequest = (request: unknown): string | null => readFirstToolCall(body(request), null);
const use = (id: string, input: unknown = {}) => ({ type: 'tool_use', id, name: 'bash', input });
const said = (...content: readonly unknown[]) => ({ role: 'assistant', content });

describe('the history in a request', () => {
  test.each([
    [
      'Messages',
      { messages: [{ role: 'user', content: 'x' }, said({ type: 'text', text: 'so' }, use(ID)), said(use(LATER))] },
      ID,
    ],
    [
      'Chat Completions',
      { messages: [{ role: 'assistant', tool_calls: [{ id: 'call_dSGGQAJbLX6CW8Oz', type: 'function' }] }] },
      'call_dSGGQAJbLX6CW8Oz',
    ],
    [
      'Responses',
      { input: [{ type: 'function_call', id: 'fc_1', call_id: 'call_dSGGQAJbLX6CW8Oz', arguments: '{}' }] },
      'call_dSGGQAJbLX6CW8Oz',
    ],
    [
      'Converse',
      { messages: [said({ toolUse: { toolUseId: 'tooluse_kZJMlvQmRJ6eAyJE5GIl7Q', name: 'x', input: {} } })] },
      'tooluse_kZJMlvQmRJ6eAyJE5GIl7Q',
    ],
    [
      'Gemini, whose ids are the client’s own',
      {
        contents: [
          {
            role: 'model',
            parts: [{ functionCall: { id: 'ls_1796027690936_0', name: 'ls' }, thoughtSignature: SEAL }],
          },
        ],
      },
      '-z14N1AVDwXgtW_d5p0lBUJo',
    ],
    [
      'a UUID',
      { messages: [said(use('01a22b99-6db3-717b-8b4d-05be6567110f'))] },
      '01a22b99-6db3-717b-8b4d-05be6567110f',
    ],
  ])('of %s', (_, request, id) => {
    expect(ofRequest(request)).toBe(id);
  });

  test.each([
    'call_0',
    'functions.bash:0',
    'call-of-the-tool-bash-1',
    'run_shell_command_1796027690936_0',
    '1796027690936179602769',
    'abcdefghijklmnopqrst',
    `toolu_${'a1'.repeat(80)}`,
    `toolu/${'a1'.repeat(10)}`,
    `sk-ant-api03-${'a1'.repeat(20)}`,
  ])('an id that another conversation may have too, or that is none, does not count: %s', (id) => {
    expect(ofRequest({ messages: [said(use(id))] })).toBeNull();
    expect(ofRequest({ messages: [said(use(id)), said(use(ID))] })).toBe(ID);
  });

  test('what looks like a call and is not the model’s: tools, prompts, arguments and results', () => {
    expect(
      ofRequest({
        system: [use(LATER)],
        tools: [{ name: 'x', example: use(LATER) }],
        messages: [
          { role: 'user', content: JSON.stringify(use(LATER)) },
          said(use('call_0', { plan: [use(LATER)] })),
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_0', content: [use(LATER)] }] },
          {
            parts: [{ functionCall: { name: 'f', args: use(LATER) } }, { functionResponse: { response: use(LATER) } }],
          },
        ],
      }),
    ).toBeNull();
  });
});

describe('the answer, where the request has none', () => {
  test.each([
    ['Messages', body({ type: 'message', content: [{ type: 'text', text: 'so' }, use(ID)] }), ID],
    ['a stream of Messages', events({ type: 'content_block_start', index: 0, content_block: use(ID) }), ID],
    [
      'a stream of Chat Completions',
      events({ choices: [{ delta: { tool_calls: [{ index: 0, id: 'call_dSGGQAJbLX6CW8Oz' }] } }] }),
      'call_dSGGQAJbLX6CW8Oz',
    ],
    [
      'a stream of Responses',
      events({ type: 'response.output_item.added', item: { type: 'function_call', call_id: 'call_dSGGQAJbLX6CW8Oz' } }),
      'call_dSGGQAJbLX6CW8Oz',
    ],
    [
      'a stream of Gemini',
      events({ candidates: [{ content: { parts: [{ functionCall: { name: 'ls' }, thoughtSignature: SEAL }] } }] }),
      '-z14N1AVDwXgtW_d5p0lBUJo',
    ],
    ['text alone', body({ type: 'message', content: [{ type: 'text', text: 'so' }] }), null],
  ])('of %s', (_, answer, id) => {
    expect(readFirstToolCall(HELLO, answer)).toBe(id);
    expect(readFirstToolCall(body({ messages: [said(use(LATER))] }), answer)).toBe(LATER);
  });

  test.each([
    { input: [{ type: 'function_call_output', call_id: 'call_1', output: 'x' }], previous_response_id: 'resp_1' },
    { input: 'x', conversation: { id: 'conv_1' } },
    { model: 'x', requests: [] },
    {},
  ])('does not count for a request without its history: %j', (request) => {
    expect(readFirstToolCall(body(request), body({ content: [use(ID)] }))).toBeNull();
  });
});
