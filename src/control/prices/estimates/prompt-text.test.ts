import { describe, expect, test } from 'vitest';
import { readPromptText } from './prompt-text.ts';

const PICTURE = 'iVBORw0KGgo='.repeat(100);

describe('what a model read', () => {
  test('chat: messages, arguments and results of tools, and the tools themselves', () => {
    const read = readPromptText({
      model: 'gpt-5',
      messages: [
        { role: 'system', content: 'Be brief.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Look.' },
            { type: 'image_url', image_url: { url: `data:,${PICTURE}` } },
          ],
        },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'read', arguments: '{"a":1}' } }],
        },
        { role: 'tool', tool_call_id: 'call_1', content: 'A gate.' },
      ],
      tools: [{ type: 'function', function: { name: 'read' } }],
      stream_options: { include_usage: false },
      user: 'u-1',
    });
    expect(read).toEqual({
      text: {
        texts: ['Be brief.', 'Look.', 'read', '{"a":1}', 'A gate.', '[{"type":"function","function":{"name":"read"}}]'],
        overBytes: 0,
      },
      messages: 4,
      tokens: 0,
      notCounted: ['media'],
    });
  });

  test('Responses: input and instructions, a schema, and what the provider keeps', () => {
    const read = readPromptText({
      input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi.' }] }],
      instructions: 'Be brief.',
      text: { format: { type: 'json_schema', schema: {} } },
      previous_response_id: 'resp_1',
    });
    expect(read.text.texts).toEqual(['Hi.', 'Be brief.', '{"format":{"type":"json_schema","schema":{}}}']);
    expect(read).toMatchObject({ messages: 2, notCounted: ['stored_context'] });
  });

  test('Anthropic: system, blocks, results, and documents as text', () => {
    const read = readPromptText({
      system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
      messages: [
        {
          role: 'user',
          content: [
            { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'A page.' }, title: 'Gates' },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PICTURE } },
          ],
        },
        { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'read', input: { road: 'A1' } }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: 'Free.' }] },
      ],
    });
    expect(read.text.texts).toEqual(['Be brief.', 'A page.', 'Gates', 'read', '{"road":"A1"}', 'Free.']);
    expect(read).toMatchObject({ messages: 4, notCounted: ['media'] });
  });

  test('Gemini and Converse: parts, calls and their results', () => {
    const gemini = readPromptText({
      systemInstruction: { parts: [{ text: 'Be brief.' }] },
      contents: [
        { role: 'user', parts: [{ text: 'Hi.' }, { inlineData: { mimeType: 'image/png', data: PICTURE } }] },
        { role: 'model', parts: [{ functionCall: { name: 'read', args: { road: 'A1' } } }] },
        { role: 'user', parts: [{ functionResponse: { name: 'read', response: { toll: 0 } } }] },
      ],
      cachedContent: 'cachedContents/1',
    });
    expect(gemini.text.texts).toEqual(['Be brief.', 'Hi.', 'read', '{"road":"A1"}', 'read', '{"toll":0}']);
    expect(gemini).toMatchObject({ messages: 4, notCounted: ['media', 'stored_context'] });
    const converse = readPromptText({
      system: [{ text: 'Be brief.' }],
      messages: [
        { role: 'user', content: [{ text: 'Hi.' }, { image: { format: 'png', source: { bytes: PICTURE } } }] },
        {
          role: 'user',
          content: [{ toolResult: { toolUseId: 't', content: [{ json: { toll: 0 } }], status: 'success' } }],
        },
      ],
    });
    expect(converse.text.texts).toEqual(['Be brief.', 'Hi.', '{"toll":0}']);
    expect(converse).toMatchObject({ messages: 3, notCounted: ['media'] });
  });

  test('completions and embeddings: text, or tokens', () => {
    expect(readPromptText({ prompt: 'Once' }).text.texts).toEqual(['Once']);
    expect(readPromptText({ input: [[1, 2, 3], [4]] })).toMatchObject({ tokens: 4, messages: 0 });
    expect(readPromptText({ inputText: 'A toll gate.' }).text.texts).toEqual(['A toll gate.']);
  });
});
