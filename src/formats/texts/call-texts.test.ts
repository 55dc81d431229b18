import { describe, expect, test } from 'vitest';
import { markOf } from './call-marks.ts';
import { type CallTexts, type PlainBody, readCallTexts } from './call-texts.ts';
import { makeSnippet } from './make-snippet.ts';
import { MAX_TEXT_CHARACTERS } from './plain-text.ts';

const PICTURE = 'iVBORw0KGgoAAAANSUhEUgAA'.repeat(200);

function body(value: unknown, contentType = 'application/json', tail: string | null = null): PlainBody {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return { head: Buffer.from(text), tail: tail === null ? null : Buffer.from(tail), contentType };
}

const promptOf = (value: unknown): CallTexts => readCallTexts(body(value), null);
const answerOf = (value: unknown, contentType?: string): CallTexts => readCallTexts(null, body(value, contentType));

function events(...values: readonly unknown[]): string {
  return values.map((value) => `data: ${JSON.stringify(value)}\n\n`).join('');
}

describe('what was said', () => {
  test('chat: messages, calls and results of tools; no tools on offer, no names of users, no pictures', () => {
    const texts = promptOf({
      model: 'gpt-5',
      user: 'u-1',
      tools: [{ type: 'function', function: { name: 'read', description: 'Reads a gate.' } }],
      messages: [
        { role: 'system', content: 'Be brief.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Look at\n  this.' },
            { type: 'image_url', image_url: { url: `data:image/png;base64,${PICTURE}` } },
          ],
        },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'read', arguments: '{"a":"\\u00fc"}' } }],
        },
        { role: 'tool', tool_call_id: 'call_1', content: 'A gate.' },
      ],
    });
    expect(texts.prompt).toBe('Be brief.\nLook at\n  this.\nread\n{"a":"ü"}\nA gate.');
    expect(texts.promptSnippet).toBe('Look at this.');
  });

  test('Anthropic: the system first wherever it stands; a message of results is none of the user', () => {
    const texts = promptOf({
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'What is the toll?' }] },
        { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'read', input: { road: 'A "1"' } }] },
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 't',
              content: [
                { type: 'text', text: 'Free.' },
                { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PICTURE } },
              ],
            },
          ],
        },
      ],
      system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
    });
    expect(texts.prompt).toBe('Be brief.\nWhat is the toll?\nread\n{"road":"A "1""}\nFree.');
    expect(texts.promptSnippet).toBe('What is the toll?');
  });

  test('Responses: instructions, items, and the output of tools', () => {
    const texts = promptOf({
      input: [
        { role: 'user', content: 'First.' },
        { type: 'function_call', call_id: 'c', name: 'read', arguments: '{"road":"A1"}' },
        { type: 'function_call_output', call_id: 'c', output: '{"toll":"none"}' },
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Second.' }] },
        { type: 'custom_tool_call_output', call_id: 'd', output: 'Done.' },
      ],
      instructions: 'Be brief.',
    });
    expect(texts.prompt).toBe('Be brief.\nFirst.\nread\n{"road":"A1"}\n{"toll":"none"}\nSecond.\nDone.');
    expect(texts.promptSnippet).toBe('Second.');
  });

  test('Gemini and Converse: parts, calls and their results', () => {
    expect(
      promptOf({
        contents: [
          { role: 'user', parts: [{ text: 'Hi.' }, { inlineData: { mimeType: 'image/png', data: PICTURE } }] },
          { role: 'model', parts: [{ functionCall: { name: 'read', args: { road: 'A1' } } }] },
          { role: 'user', parts: [{ functionResponse: { name: 'read', response: { toll: 'none' } } }] },
        ],
        systemInstruction: { parts: [{ text: 'Be brief.' }] },
      }),
    ).toMatchObject({
      prompt: 'Be brief.\nHi.\nread\n{"road":"A1"}\nread\n{"toll":"none"}',
      promptSnippet: 'Hi.',
    });
    expect(
      promptOf({
        system: [{ text: 'Be brief.' }],
        messages: [
          { role: 'user', content: [{ text: 'Hi.' }, { image: { format: 'png', source: { bytes: PICTURE } } }] },
          { role: 'user', content: [{ toolResult: { toolUseId: 't', content: [{ json: { toll: 'none' } }] } }] },
        ],
      }),
    ).toMatchObject({ prompt: 'Be brief.\nHi.\n{"toll":"none"}', promptSnippet: 'Hi.' });
  });

  test('a batch of Gemini’s: each answer, once, wherever they stand', () => {
    const inlinedResponses = ['One.', 'Two.'].map((text) => ({
      response: { candidates: [{ content: { parts: [{ text }], role: 'model' } }] },
    }));
    const output = { inlinedResponses: { inlinedResponses } };
    for (const place of [{ response: output }, { response: { output } }, { metadata: { output } }])
      expect(answerOf({ name: 'batches/b1', done: true, ...place }).answer).toBe('One.\nTwo.');
    expect(answerOf({ name: 'batches/b1', metadata: { output }, response: output }).answer).toBe('One.\nTwo.');
  });

  test('sessions over a websocket and batches: each message of each line', () => {
    const lines = [
      { type: 'session.update', session: { instructions: 'Be brief.', voice: 'alloy' } },
      { type: 'conversation.item.create', item: { type: 'message', role: 'user', content: [{ text: 'One?' }] } },
      { type: 'input_audio_buffer.append', audio: PICTURE },
      { type: 'response.create', response: { input: [{ role: 'user', content: 'Two?' }], modalities: ['text'] } },
      { clientContent: { turns: [{ role: 'user', parts: [{ text: 'Three?' }] }] } },
    ];
    const text = lines.map((line) => JSON.stringify(line)).join('\n');
    expect(readCallTexts(body(text, 'application/x-ndjson'), null)).toMatchObject({
      prompt: 'Be brief.\nOne?\nTwo?\nThree?',
      promptSnippet: 'Three?',
    });
  });

  test('a form: its prompt, and nothing of its file', () => {
    const form = [
      '--b\r\ncontent-disposition: form-data; name="prompt"\r\n\r\nNames: Köln.\r\n',
      '--b\r\ncontent-disposition: form-data; name="file"; filename="a.mp3"\r\n\r\nRIFF bytes\r\n--b--\r\n',
    ].join('');
    expect(readCallTexts(body(form, 'multipart/form-data; boundary=b'), null).prompt).toBe('Names: Köln.');
  });
});

describe('what was answered', () => {
  test('a stream of chat: text, refusal, calls and thoughts, each put together', () => {
    const delta = (piece: object) => ({ choices: [{ index: 0, delta: piece }] });
    const call = (piece: object) => delta({ tool_calls: [{ index: 0, function: piece }] });
    const stream = events(
      delta({ role: 'assistant', reasoning_content: 'Let me ' }),
      delta({ reasoning_content: 'see.' }),
      delta({ content: 'To' }),
      delta({ content: 'll' }),
      call({ name: 'read', arguments: '' }),
      call({ arguments: '{"road":"A' }),
      call({ arguments: ' \\u0031"}' }),
    );
    expect(answerOf(`${stream}data: [DONE]\n\n`, 'text/event-stream')).toMatchObject({
      answer: 'Let me see.\nToll\nread\n{"road":"A 1"}',
      answerSnippet: 'Toll',
    });
  });

  test('without a text a list shows the call, without a call the thought', () => {
    const message = (content: unknown) => ({ type: 'message', role: 'assistant', content });
    const thought = { type: 'thinking', thinking: 'Hm.' };
    const call = { type: 'tool_use', id: 't', name: 'read', input: { road: 'A1' } };
    expect(answerOf(message([thought, call])).answerSnippet).toBe('read {"road":"A1"}');
    expect(answerOf(message([thought])).answerSnippet).toBe('Hm.');
    expect(answerOf(message([thought, call, { type: 'text', text: 'So.' }])).answerSnippet).toBe('So.');
  });

  test('what the tools of the provider found, and no encrypted content', () => {
    const found = { type: 'web_search_result', title: 'Gates', url: 'https://example.com', encrypted_content: 'b3Bh' };
    const content = [{ type: 'web_search_tool_result', tool_use_id: 't', content: [found] }];
    expect(answerOf({ type: 'message', content }).answer).toBe('Gates');
    const output = [
      { type: 'file_search_call', queries: ['tolls'], results: [{ text: 'A page.', score: 0.5 }] },
      { type: 'mcp_call', name: 'ask', arguments: '{"q":1}', output: '{"a":"\\u00e9"}' },
    ];
    const items = 'tolls\nA page.\nask\n{"q":1}\n{"a":"é"}';
    expect(answerOf({ object: 'response', output }).answer).toBe(items);
    const done = output.map((item, index) => ({ type: 'response.output_item.done', output_index: index, item }));
    expect(answerOf(events(...done), 'text/event-stream').answer).toBe('tolls\nA page.\n{"a":"é"}');
  });

  test('a realtime session: what is told of items, of the session and of limits is no answer', () => {
    const spoken = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Free.' }] };
    const asked = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'What is the toll?' }] };
    const call = { type: 'function_call', name: 'read', arguments: '{"road":"A1"}' };
    const lines = [
      { type: 'session.created', session: { tool_choice: { type: 'function', name: 'write' } } },
      { type: 'conversation.item.added', item: asked },
      { type: 'conversation.item.done', item: asked },
      { type: 'conversation.item.input_audio_transcription.segment', text: 'What is the toll?' },
      { type: 'response.created', response: {} },
      { type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: 'Free.' },
      { type: 'conversation.item.created', item: spoken },
      { type: 'conversation.item.retrieved', item: spoken },
      { type: 'response.output_item.added', output_index: 1, item: { ...call, arguments: '' } },
      { type: 'response.function_call_arguments.delta', output_index: 1, delta: '{"road":"A1"}' },
      { type: 'conversation.item.done', item: call },
      { type: 'rate_limits.updated', rate_limits: [{ name: 'requests', limit: 1 }] },
    ];
    const texts = answerOf(lines.map((line) => JSON.stringify(line)).join('\n'), 'application/x-ndjson');
    expect(texts.answer).toBe('Free.\nread\n{"road":"A1"}');
    expect(texts.marks.toolCalls).toBe(markOf(['read', '{"road":"A1"}']));
  });

  test('Gemini: each call of a function is one of its own, in an answer, a stream and a live session', () => {
    const part = (name: string, args: object) => ({ functionCall: { name, args } });
    const answer = (...parts: readonly object[]) => ({ candidates: [{ index: 0, content: { role: 'model', parts } }] });
    const [run, read] = [part('run', { cmd: 'echo "hi"' }), part('read', { p: 1 })];
    const expected = 'So: this.\nrun\n{"cmd":"echo "hi""}\nread\n{"p":1}';
    expect(answerOf(answer({ text: 'So: ' }, { text: 'this.' }, run, read)).answer).toBe(expected);
    const stream = events(answer({ text: 'So: ' }), answer({ text: 'this.' }), answer(run), answer(read));
    expect(answerOf(stream, 'text/event-stream').answer).toBe(expected);
    const live = [run, read].map(({ functionCall }) => ({ toolCall: { functionCalls: [functionCall] } }));
    const lines = live.map((line) => JSON.stringify(line)).join('\n');
    expect(answerOf(lines, 'application/x-ndjson').answer).toBe('run\n{"cmd":"echo "hi""}\nread\n{"p":1}');
    const code = (text: string) => ({ executableCode: { language: 'PYTHON', code: text } });
    expect(answerOf(answer(code('a = 1'), code('b = 2'))).answer).toBe('a = 1\nb = 2');
  });

  test.each(['application/octet-stream', 'application/json', 'text/plain'])('lines that are served as %s', (type) => {
    const line = (id: string, content: string) => {
      const body = { choices: [{ index: 0, message: { role: 'assistant', content } }] };
      return JSON.stringify({ id, custom_id: id, response: { status_code: 200, body } });
    };
    const lines = `${line('a', 'One.')}\n${line('b', 'Two.')}\r\n\n${line('c', 'Three.').slice(0, -7)}`;
    expect(answerOf(lines, type).answer).toBe('One.\nTwo.\nThree.');
    const cut = body(`${line('a', 'One.')}\n${line('b', 'T').slice(0, 9)}`, type, `x"}\n${line('c', 'Three.')}`);
    expect(readCallTexts(null, cut).answer).toBe('One.\nThree.');
  });

  test('the answers of one session are told apart', () => {
    const lines = ['One.', 'Two.'].flatMap((delta) => [
      { type: 'response.created', response: {} },
      { type: 'response.output_text.delta', output_index: 0, content_index: 0, delta },
    ]);
    const text = lines.map((line) => JSON.stringify(line)).join('\n');
    expect(answerOf(text, 'application/x-ndjson').answer).toBe('One.\nTwo.');
  });

  test('pictures, sound and vectors leave nothing', () => {
    expect(answerOf({ data: [{ b64_json: PICTURE }, { embedding: [0.5, 1] }, { embedding: PICTURE }] }).answer).toBe(
      '',
    );
    expect(answerOf(PICTURE, 'image/png').answer).toBe('');
    expect(promptOf({ messages: [{ role: 'tool', content: `{"png":"${PICTURE}"}` }] }).prompt).toBe('{"png":"…"}');
  });
});

describe('bodies without their middle', () => {
  test('a request: the messages that are whole at its end', () => {
    const head = '{"model":"m","messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"A long';
    const tail =
      'story\\" {\\"role\\":\\"x"},{"role":"assistant","content":"Yes?"},{"role":"user","content":[{"type":"text","text":"And now?"}]}],"stream":true}';
    expect(readCallTexts(body(head, 'application/json', tail), null)).toMatchObject({
      prompt: 'Be brief.\nA long\nYes?\nAnd now?',
      promptSnippet: 'And now?',
    });
  });

  test('a request: no tools and schemas at its end, but calls', () => {
    const head = '{"messages":[{"role":"user","content":"A long';
    const tail = [
      'ate","description":"Where"},"to":{"type":"string","description":"Whereto"}}}}},',
      '{"type":"function","function":{"name":"old","description":"Old."}},',
      '{"type":"custom","name":"patch","description":"Patches."}],"messages":[',
      '{"type":"function_call","name":"read","arguments":"{}"},',
      '{"type":"function","function":{"name":"run","arguments":"{}"}},',
      '{"role":"user","content":"And now?"}],',
      '"tools":[{"type":"function","name":"read","parameters":{"type":"object","properties":{"a":{"description":"Of"}}}},',
      '{"name":"see","description":"Sees.","input_schema":{"type":"object","properties":{"b":{"description":"By"}}}},',
      '{"functionDeclarations":[{"name":"go","parameters":{"type":"OBJECT","properties":{"c":{"type":"STRING"}}}}]}],',
      '"tool_choice":{"type":"tool","name":"see"},',
      '"response_format":{"type":"json_schema","json_schema":{"name":"toll","schema":{"description":"A toll"}}},',
      '"text":{"format":{"type":"json_schema","name":"toll","schema":{"description":"A toll"}}}}',
    ].join('');
    expect(readCallTexts(body(head, 'application/json', tail), null).prompt).toBe(
      'A long\nread\n{}\nrun\n{}\nAnd now?',
    );
    const answer = body(
      '{"object":"response","output":[',
      'application/json',
      `"x"}]${tail.slice(tail.indexOf(',"tools'))}`,
    );
    expect(readCallTexts(null, answer).answer).toBe('');
  });

  test('a stream: the events that are whole at its end', () => {
    const event = (content: string) => events({ choices: [{ index: 0, delta: { content } }] });
    const head = event('Once ') + event('upon').slice(0, 30);
    const tail = `${event('the').slice(20)}${event('last ')}${event('word.')}`;
    expect(readCallTexts(null, body(head, 'text/event-stream', tail)).answer).toBe('Once \nlast word.');
  });

  test('lines: those that are whole at its end', () => {
    const line = (text: string) => `${JSON.stringify({ type: 'x', item: { role: 'user', content: text } })}\n`;
    const cut = body(
      line('One.') + line('Two.').slice(0, 9),
      'application/x-ndjson',
      line('?').slice(5) + line('Nine.'),
    );
    expect(readCallTexts(cut, null).prompt).toBe('One.\nNine.');
  });
});

describe('bounds', () => {
  test('a long text has its beginning and its end', () => {
    const { prompt } = promptOf({ input: `begin ${'x y '.repeat(200_000)} 👋 end` });
    expect([prompt.length, prompt.slice(0, 9), prompt.slice(-6)]).toEqual([
      MAX_TEXT_CHARACTERS - 1,
      'begin x y',
      '👋 end',
    ]);
    expect(prompt.split('\n…\n').length).toBe(2);
  });

  test('no half of a pair of surrogates stands at a cut', () => {
    const { prompt } = promptOf({ input: `x${'👋'.repeat(200_000)}` });
    expect(prompt.isWellFormed()).toBe(true);
  });

  test('any number of texts in an answer, and any depth', () => {
    const choices = Array.from({ length: 5_000 }, (_, index) => ({ index, message: { content: `a${index} ` } }));
    expect(answerOf({ choices }).answer.startsWith('a0 \na1 \n')).toBe(true);
    const deep = `{"messages":${'['.repeat(20_000)}"x"${']'.repeat(20_000)}}`;
    expect(promptOf(deep).prompt).toBe('');
    const nested = {
      role: 'user',
      content: [{ type: 'tool_result', content: { json: JSON.parse(`${'['.repeat(5_000)}1${']'.repeat(5_000)}`) } }],
    };
    expect(promptOf(nested).prompt).toBe('');
  });

  test('members that every object has mean nothing', () => {
    expect(promptOf('{"__proto__":{"role":"user"},"constructor":"a","toString":"b","valueOf":["c"]}').prompt).toBe('');
    expect(answerOf('{"constructor":"a","toString":{"text":"b"},"text":"c"}').answer).toBe('b\nc');
  });
});

describe('snippets', () => {
  test.each([
    ['white space is folded', ['  One\n\n\ttwo ', '', ' three'], 'One two three'],
    ['what fits is whole', ['x'.repeat(120)], 'x'.repeat(120)],
    ['what does not ends in an ellipsis', ['x'.repeat(121)], `${'x'.repeat(119)}…`],
    ['Chinese counts as Latin does', ['過'.repeat(121)], `${'過'.repeat(119)}…`],
    ['a family is one character', ['👨‍👩‍👧'.repeat(30)], '👨‍👩‍👧'.repeat(30)],
    ['a letter keeps its accents', [`${'e\u0301'.repeat(119)}e\u0301e\u0301`], `${'e\u0301'.repeat(119)}…`],
    ['a heap of accents has an end', [`e${'\u0301'.repeat(9_000)}`], `e${'\u0301'.repeat(119)}…`],
    ['control characters are space', ['a\u0000\u001bb'], 'a b'],
    ['nothing stays nothing', [' \n '], ''],
  ])('%s', (_what, texts, snippet) => {
    expect(makeSnippet(texts)).toBe(snippet);
  });
});
