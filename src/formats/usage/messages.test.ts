/** What Anthropic's format says beyond the counts of one turn: iterations, credits, runs of code, odd streams. */
import { describe, expect, test } from 'vitest';
import type { JsonObject, ReportedUsage } from '../../vocabulary/token-usage.ts';
import { messages } from './messages.ts';
import { NOTHING_REPORTED } from './reported-usage.ts';
import { createUsageReader } from './usage-reader.ts';

function readMessage(usage: JsonObject, content: readonly JsonObject[] = []): ReportedUsage {
  return messages.readJson({ type: 'message', model: 'claude-sonnet-5', content, usage }, NOTHING_REPORTED);
}

function readStream(events: readonly JsonObject[]): ReportedUsage {
  return events.reduce((reported, event) => messages.readEvent(null, event, reported), NOTHING_REPORTED);
}

const start = (usage: JsonObject): JsonObject => ({
  type: 'message_start',
  message: { type: 'message', model: 'claude-sonnet-5', content: [], usage },
});
const delta = (usage: JsonObject): JsonObject => ({ type: 'message_delta', delta: {}, usage });
const block = (content: JsonObject): JsonObject => ({ type: 'content_block_start', index: 0, content_block: content });

test('a refusal after a redacted thought is the same answer as JSON and as a stream: something was answered', () => {
  const thought = { type: 'redacted_thinking', data: 'AAAA' };
  const usage = { input_tokens: 10, output_tokens: 5 };
  const message = { type: 'message', model: 'claude-opus-5', content: [thought], stop_reason: 'refusal', usage };
  const events = [
    start(usage),
    block(thought),
    { type: 'message_delta', delta: { stop_reason: 'refusal' }, usage: { output_tokens: 5 } },
    { type: 'message_stop' },
  ];
  const header = { status: 200, contentType: 'text/event-stream', contentEncoding: null };
  const reader = createUsageReader({ format: messages, ...header });
  for (const event of events) reader.push(Buffer.from(`data: ${JSON.stringify(event)}\n\n`));
  reader.finish(true, () => undefined);
  expect(messages.readJson(message, NOTHING_REPORTED).usage).toEqual(reader.reported.usage);
  expect(reader.reported.usage?.isRefused).toBeUndefined();
});

test('what was written for a lifetime that is not known is left out, and the usage says so', () => {
  const usage = { input_tokens: 10, output_tokens: 5, cache_creation_input_tokens: 1000 };
  const cache_creation = { ephemeral_5m_input_tokens: 100, ephemeral_1h_input_tokens: 0 };
  expect(
    readMessage({ ...usage, cache_creation: { ...cache_creation, ephemeral_24h_input_tokens: 900 } }),
  ).toMatchObject({
    usage: { classes: { cache_creation_5m: 100, cache_creation_1h: 0 }, isIncomplete: true },
    flags: ['inconsistent'],
  });
  expect(readMessage({ ...usage, cache_creation: { ephemeral_24h_input_tokens: 1000 } }).usage).toMatchObject({
    classes: { input: 10, cache_creation_5m: 0, output: 5 },
    isIncomplete: true,
  });
  const known = readMessage({ ...usage, cache_creation: { ...cache_creation, ephemeral_24h_input_tokens: 0 } });
  expect(known.usage?.isIncomplete).toBeUndefined();
});

describe('iterations', () => {
  test('a compaction stands apart with the model of the call and its own prompt; turns are in the totals', () => {
    const { usage, flags } = readMessage({
      input_tokens: 23000,
      output_tokens: 1000,
      iterations: [
        { type: 'compaction', input_tokens: 180000, output_tokens: 3500 },
        { type: 'message', input_tokens: 20000, output_tokens: 400 },
        { type: 'message', input_tokens: 3000, output_tokens: 600 },
      ],
    });
    expect(usage?.classes).toEqual({ input: 23000, output: 1000 });
    expect(usage?.others).toEqual([{ purpose: 'compaction', model: null, classes: { input: 180000, output: 3500 } }]);
    expect(flags).toEqual([]);
  });

  test.each([
    ['that nobody knows may be billed apart', { type: 'novel_message', input_tokens: 5000, output_tokens: 10 }, true],
    ['that nobody knows and that used nothing is nothing', { type: 'novel_message', input_tokens: 0 }, false],
  ])('a part %s', (_, novel, isIncomplete) => {
    const turn = { type: 'message', input_tokens: 10, output_tokens: 5 };
    const { usage, flags } = readMessage({ input_tokens: 10, output_tokens: 5, iterations: [turn, novel] });
    expect(usage?.classes).toEqual({ input: 10, output: 5 });
    expect(usage?.isIncomplete === true).toBe(isIncomplete);
    expect(flags).toEqual(isIncomplete ? ['inconsistent'] : []);
  });

  test("an advisor's tokens are its own model's, cache writes by lifetime included", () => {
    const { usage, flags } = readMessage({
      input_tokens: 10,
      output_tokens: 5,
      iterations: [
        { type: 'message', model: null, input_tokens: 10, output_tokens: 5 },
        {
          type: 'advisor_message',
          model: 'claude-opus-5',
          input_tokens: 900,
          cache_creation_input_tokens: 70,
          cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 70 },
          cache_read_input_tokens: 4,
          output_tokens: 200,
        },
      ],
    });
    expect(usage?.others).toEqual([
      {
        purpose: 'advisor',
        model: 'claude-opus-5',
        classes: { input: 900, cache_read: 4, cache_creation_5m: 0, cache_creation_1h: 70, output: 200 },
      },
    ]);
    expect(flags).toEqual([]);
  });

  test('turns that do not add up to the totals are remarked', () => {
    const iterations = [{ type: 'message', input_tokens: 8, output_tokens: 5 }];
    expect(readMessage({ input_tokens: 10, output_tokens: 5, iterations }).flags).toEqual(['inconsistent']);
  });

  test('they come with a late delta and replace what was known', () => {
    const reported = readStream([
      start({ input_tokens: 23, output_tokens: 1, iterations: null }),
      delta({ output_tokens: 7, iterations: null }),
      delta({ output_tokens: 9, iterations: [{ type: 'compaction', input_tokens: 500, output_tokens: 30 }] }),
    ]);
    expect(reported.usage?.classes).toEqual({ input: 23, output: 9 });
    expect(reported.usage?.others).toEqual([
      { purpose: 'compaction', model: null, classes: { input: 500, output: 30 } },
    ]);
  });
});

test.each<[string, JsonObject, string[]]>([
  ['redeemed reprices the answer and is remarked', { status: { type: 'redeemed' } }, ['inconsistent']],
  ['not applied changes nothing', { status: { type: 'not_applied', reason: 'expired' } }, []],
])('a fallback credit that was %s', (_, credit, flags) => {
  const reported = readMessage({ input_tokens: 1, output_tokens: 2, fallback_credit: credit });
  expect(reported.flags).toEqual(flags);
  // By how much it reprices is not told: the cost of such an answer is not known whole.
  expect(reported.usage?.isIncomplete === true).toBe(flags.length > 0);
});

describe('runs of code, which the usage does not count', () => {
  const run = (name: string): JsonObject => ({ type: 'server_tool_use', id: 'srvtoolu_1', name, input: {} });
  const calledByCode = { ...run('web_search'), caller: { type: 'code_execution_20260120', tool_id: 'srvtoolu_1' } };
  const usage = { input_tokens: 5, output_tokens: 9 };

  test.each<[string, readonly JsonObject[], number | undefined]>([
    ['are counted in the content', [run('bash_code_execution'), run('text_editor_code_execution')], 2],
    ['are none where other tools ran', [run('web_search'), { type: 'text', text: 'code_execution' }], undefined],
    ['are free where code called a web tool', [run('code_execution'), calledByCode, run('code_execution')], 0],
    ['still count beside a web tool that the model called', [run('web_fetch'), run('code_execution')], 1],
  ])('%s, in JSON and in a stream', (_, content, expected) => {
    const whole = readMessage(usage, content);
    const streamed = readStream([start({ input_tokens: 5, output_tokens: 1 }), ...content.map(block), delta(usage)]);
    expect(whole.usage?.classes.code_execution_requests).toBe(expected);
    expect(streamed.usage).toEqual(whole.usage);
  });

  test('the reported count outranks the blocks', () => {
    const reported = { ...usage, server_tool_use: { code_execution_requests: 3 } };
    expect(readMessage(reported, [run('code_execution')]).usage?.classes.code_execution_requests).toBe(3);
    const streamed = readStream([start(usage), block(run('code_execution')), delta(reported)]);
    expect(streamed.usage?.classes.code_execution_requests).toBe(3);
  });

  test('their blocks are noticed among the others by the bytes alone', () => {
    expect(messages.mayMatter(Buffer.from(JSON.stringify(block(run('code_execution')))))).toBe(true);
    const spoken = { type: 'content_block_delta', delta: { type: 'text_delta', text: '{"type":"server_tool_use"}' } };
    expect(messages.mayMatter(Buffer.from(JSON.stringify(spoken)))).toBe(false);
  });
});

describe('a refusal', () => {
  const usage = { input_tokens: 106, output_tokens: 1 };
  const said = [{ type: 'text', text: 'I began' }];
  const refuse = (content: readonly JsonObject[]) =>
    messages.readJson(
      { type: 'message', model: 'claude-sonnet-5', content, stop_reason: 'refusal', usage },
      NOTHING_REPORTED,
    );

  test('before anything was answered is marked: it may not be charged', () => {
    expect(refuse([]).usage).toEqual({
      classes: { input: 106, output: 1 },
      reasoning: null,
      isRefused: true,
      native: usage,
    });
  });

  test('in the middle of an answer, and an answer without content, are not', () => {
    expect(refuse(said).usage?.isRefused).toBeUndefined();
    expect(readMessage(usage).usage?.isRefused).toBeUndefined();
  });

  test.each([
    ['nothing came before', [], true],
    ['text came before', [{ type: 'content_block_delta', delta: { type: 'text_delta', text: 'I began' } }], undefined],
  ])('is told apart in a stream: %s', (_, between, expected) => {
    const events = [start(usage), ...between, { type: 'message_delta', delta: { stop_reason: 'refusal' }, usage }];
    const reader = createUsageReader({
      format: messages,
      status: 200,
      contentType: 'text/event-stream',
      contentEncoding: null,
    });
    reader.push(Buffer.from(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')));
    expect(reader.reported.usage?.isRefused).toBe(expected);
  });
});
