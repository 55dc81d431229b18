/** What is said, as Anthropic's Messages, OpenAI's Responses and Gemini's streams say it, and whose request it was. */
import { randomBytes } from 'node:crypto';
import type { Said } from './session-script.ts';

export type Json = Readonly<Record<string, unknown>>;

export interface Tokens {
  readonly input: number;
  readonly output: number;
}

export interface Answer {
  readonly events: readonly Json[];
  /** What the events say of usage; null where they end before that. */
  readonly tokens: Tokens | null;
  /** By which a later request may continue it. */
  readonly id: string | null;
}

export interface WireFormat {
  /** What the person, or the agent above, said; not what tools did. */
  readonly readTexts: (body: Json) => readonly string[];
  /** Whether it may be answered by calling one. */
  readonly hasTools: (body: Json) => boolean;
  readonly answer: (said: Said, tokens: Tokens, body: Json) => Answer;
}

export const listOf = (value: unknown): readonly Json[] => (Array.isArray(value) ? value : []);

const TEXT = 'done';
/** What Codex' agents say to one another; a provider would seal the text. */
export const AGENT_MESSAGE = 'agent_message';
const RANDOM_BYTES = 12;
const randomId = () => randomBytes(RANDOM_BYTES).toString('hex');
const hasTools = (body: Json) => listOf(body['tools']).length > 0;

function textsOf(content: unknown, types: readonly string[]): readonly string[] {
  if (typeof content === 'string') return [content];
  return listOf(content)
    .filter(({ type }) => types.includes(String(type ?? 'text')))
    .map(({ text, encrypted_content: sealed }) => String(text ?? sealed));
}

const ofUser = (messages: unknown) => listOf(messages).filter(({ role }) => role === 'user');

export const messages: WireFormat = {
  readTexts: (body) => ofUser(body['messages']).flatMap(({ content }) => textsOf(content, ['text'])),
  hasTools,
  answer: ({ calls, isCut }, tokens, body) => {
    const blocks = calls.map(({ name, args }) => ({
      block: { type: 'tool_use', id: `toolu_${randomId()}`, name, input: {} },
      delta: { type: 'input_json_delta', partial_json: JSON.stringify(args) },
    }));
    const text = { block: { type: 'text', text: '' }, delta: { type: 'text_delta', text: TEXT } };
    const head = { id: `msg_${randomId()}`, type: 'message', role: 'assistant', model: body['model'], content: [] };
    // What a stream opens with is a placeholder, and no output that was counted.
    const usage = { input_tokens: tokens.input, output_tokens: 1 };
    const all = [
      { type: 'message_start', message: { ...head, stop_reason: null, usage } },
      ...(calls.length === 0 ? [text] : blocks).flatMap(({ block, delta }, index) => [
        { type: 'content_block_start', index, content_block: block },
        { type: 'content_block_delta', index, delta },
        { type: 'content_block_stop', index },
      ]),
      {
        type: 'message_delta',
        delta: { stop_reason: calls.length === 0 ? 'end_turn' : 'tool_use', stop_sequence: null },
        usage: { output_tokens: tokens.output },
      },
      { type: 'message_stop' },
    ];
    const cut = all.findIndex(({ type }) => type === 'content_block_stop');
    return isCut
      ? { events: all.slice(0, cut), tokens: { ...tokens, output: 0 }, id: null }
      : { events: all, tokens, id: null };
  },
};

export const responses: WireFormat = {
  readTexts: (body) =>
    listOf(body['input']).flatMap(({ type, role, content }) =>
      type === AGENT_MESSAGE || role === 'user' ? textsOf(content, ['input_text', 'encrypted_content']) : [],
    ),
  // Newer models have them in the input, and on a websocket a message repeats nothing.
  hasTools: (body) =>
    hasTools(body) ||
    typeof body['previous_response_id'] === 'string' ||
    listOf(body['input']).some(({ type }) => type === 'additional_tools'),
  answer: ({ calls, isCut }, tokens, body) => {
    const items = calls.map(({ name, namespace, args }) => ({
      type: 'function_call',
      id: `fc_${randomId()}`,
      call_id: `call_${randomId()}`,
      name,
      ...(namespace === undefined ? {} : { namespace }),
      arguments: JSON.stringify(args),
      status: 'completed',
    }));
    const part = { type: 'output_text', text: TEXT, annotations: [] };
    const text = {
      type: 'message',
      id: `msg_${randomId()}`,
      role: 'assistant',
      status: 'completed',
      content: [part],
    };
    const output = calls.length === 0 ? [text] : items;
    const response = { id: `resp_${randomId()}`, object: 'response', model: body['model'] };
    const created = { ...response, output: [], status: 'in_progress', usage: null };
    const usage = {
      input_tokens: tokens.input,
      output_tokens: tokens.output,
      total_tokens: tokens.input + tokens.output,
    };
    const begun = { type: 'response.created', response: created };
    if (isCut) {
      const place = { item_id: text.id, output_index: 0, content_index: 0 };
      const added = { type: 'response.output_item.added', output_index: 0, item: { ...text, content: [] } };
      const delta = { type: 'response.output_text.delta', ...place, delta: TEXT.slice(0, 2) };
      return { events: [begun, added, delta], tokens: null, id: null };
    }
    const done = output.flatMap((item, index) => [
      { type: 'response.output_item.added', output_index: index, item },
      { type: 'response.output_item.done', output_index: index, item },
    ]);
    const completed = { ...response, output, status: 'completed', usage };
    return {
      events: [begun, ...done, { type: 'response.completed', response: completed }],
      tokens,
      id: response.id,
    };
  },
};

export const generateContent: WireFormat = {
  readTexts: (body) => ofUser(body['contents']).flatMap(({ parts }) => textsOf(parts, ['text'])),
  hasTools,
  answer: ({ calls, isCut }, tokens) => {
    const thoughtSignature = randomBytes(96).toString('base64');
    const parts = calls.map(({ name, args }, index) => ({
      functionCall: { name, args },
      // Only the first of several has one.
      ...(index === 0 ? { thoughtSignature } : {}),
    }));
    const chunk = (said: readonly Json[], output: number, finishReason?: string) => ({
      candidates: [{ content: { role: 'model', parts: said }, index: 0, ...(finishReason ? { finishReason } : {}) }],
      usageMetadata: {
        promptTokenCount: tokens.input,
        candidatesTokenCount: output,
        totalTokenCount: tokens.input + output,
      },
    });
    const first = chunk([{ text: 'do' }], 1);
    if (isCut) return { events: [first], tokens: { ...tokens, output: 1 }, id: null };
    const last = chunk(calls.length === 0 ? [{ text: 'ne' }] : parts, tokens.output, 'STOP');
    return { events: calls.length === 0 ? [first, last] : [last], tokens, id: null };
  },
};
