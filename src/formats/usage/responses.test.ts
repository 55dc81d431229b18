import { describe, expect, test } from 'vitest';
import type { JsonObject, OtherUsage } from '../../vocabulary/token-usage.ts';
import { NOTHING_REPORTED } from './reported-usage.ts';
import { responses } from './responses.ts';

const USAGE = { input_tokens: 1, output_tokens: 2, total_tokens: 3 };

function read(body: JsonObject) {
  return responses.readJson(body, NOTHING_REPORTED);
}

describe('the totals of a response are taken apart', () => {
  test.each<[string, JsonObject, object, number | null]>([
    [
      'cached and reasoning',
      {
        service_tier: 'default',
        error: null,
        usage: {
          input_tokens: 2500,
          input_tokens_details: { cached_tokens: 1024 },
          output_tokens: 3200,
          output_tokens_details: { reasoning_tokens: 2432 },
          total_tokens: 5700,
        },
      },
      { input: 1476, cache_read: 1024, output: 3200 },
      2432,
    ],
    [
      'cache writes by lifetime',
      {
        usage: {
          input_tokens: 9000,
          input_tokens_details: {
            cached_tokens: 1000,
            cache_write_tokens: 5000,
            cache_write_tokens_details: { ttl_30m_tokens: 3000, ttl_12h_tokens: 2000 },
          },
          output_tokens: 10,
          total_tokens: 9010,
        },
      },
      { input: 3000, cache_read: 1000, cache_creation_30m: 3000, cache_creation_12h: 2000, output: 10 },
      null,
    ],
    [
      'a decision',
      {
        answers: [],
        model: 'gpt-6-luna',
        usage: {
          input_tokens: 120,
          input_tokens_details: { cached_tokens: 0, cache_write_tokens: 100 },
          output_tokens: 8,
          output_tokens_details: { reasoning_tokens: 0 },
          total_tokens: 128,
        },
      },
      { input: 20, cache_read: 0, cache_creation_30m: 100, output: 8 },
      0,
    ],
  ])('%s', (_, body, classes, reasoning) => {
    const { usage, flags, terminal } = read(body);
    expect({ classes: usage?.classes, reasoning: usage?.reasoning, flags, terminal }).toEqual({
      classes,
      reasoning,
      flags: [],
      terminal: true,
    });
  });
});

describe('tools that the provider runs are counted', () => {
  test.each<[string, JsonObject, object]>([
    ['searches as reported', { tool_usage: { web_search: { num_requests: 3 } } }, { web_search_requests: 3 }],
    [
      'searches as reported, although more are among the output',
      { tool_usage: { web_search: { num_requests: 0 } }, output: [{ type: 'web_search_call' }] },
      { web_search_requests: 0 },
    ],
    [
      'searches counted from the output, without opened pages',
      {
        output: [
          { type: 'web_search_call', action: { type: 'search', query: 'a' } },
          { type: 'web_search_call', action: { type: 'open_page', url: 'https://example.com' } },
          { type: 'web_search_call', action: { type: 'search', query: 'b' } },
          { type: 'message', content: [] },
        ],
      },
      { web_search_requests: 2 },
    ],
    [
      'searches in files, without one that failed',
      {
        output: [
          { type: 'file_search_call', status: 'completed', queries: ['a', 'b'] },
          { type: 'file_search_call', status: 'completed', queries: ['c'] },
          { type: 'file_search_call', status: 'failed', queries: ['d'] },
        ],
      },
      { file_search_requests: 2 },
    ],
    [
      'code that ran in the provider’s containers, and not on the client’s machine',
      {
        output: [
          { type: 'code_interpreter_call', status: 'completed', container_id: 'cntr_1' },
          { type: 'shell_call', status: 'completed', environment: { type: 'container_reference' } },
          { type: 'shell_call', status: 'completed', environment: { type: 'local' } },
          { type: 'local_shell_call', status: 'completed' },
        ],
      },
      { code_execution_requests: 2 },
    ],
  ])('%s', (_, body, classes) => {
    expect(read({ ...body, usage: USAGE }).usage?.classes).toEqual({ input: 1, output: 2, ...classes });
  });
});

describe('other models within a response are apart from it', () => {
  const IMAGE_GEN = {
    input_tokens: 350,
    input_tokens_details: { text_tokens: 50, image_tokens: 300 },
    output_tokens: 4160,
    total_tokens: 4510,
  };
  const drawn: OtherUsage = {
    purpose: 'image_generation',
    model: 'gpt-image-2',
    classes: { input: 50, input_image: 300, output: 0, output_image: 4160 },
  };
  const TOOLS = [{ type: 'web_search' }, { type: 'image_generation', model: 'gpt-image-2' }];

  test.each<[string, JsonObject, readonly OtherUsage[] | undefined]>([
    ['the image tool', { tools: TOOLS, tool_usage: { image_gen: IMAGE_GEN } }, [drawn]],
    [
      'the image tool with what it read from its cache',
      {
        tools: TOOLS,
        tool_usage: {
          image_gen: {
            ...IMAGE_GEN,
            cached_tokens: 120,
            cached_tokens_details: { cached_text_tokens: 20, cached_image_tokens: 100 },
            output_tokens_details: { text_tokens: 160, image_tokens: 4000 },
          },
        },
      },
      [
        {
          ...drawn,
          classes: {
            input: 30,
            input_image: 200,
            cache_read: 20,
            cache_read_image: 100,
            output: 160,
            output_image: 4000,
          },
        },
      ],
    ],
    [
      'the image tool of a model that is not named, which no price is guessed for',
      { tool_usage: { image_gen: IMAGE_GEN } },
      [{ ...drawn, model: 'unknown' }],
    ],
    ['an image tool that was not used', { tools: TOOLS, tool_usage: { image_gen: { input_tokens: 0 } } }, undefined],
    [
      'drawings, each by the model that wrote it',
      {
        output: [
          {
            type: 'image_generation_call',
            status: 'completed',
            svg_usage: {
              model: 'gpt-6-astra',
              input_tokens: 40,
              output_tokens: 900,
              reasoning_tokens: 300,
              total_tokens: 940,
            },
          },
        ],
      },
      [{ purpose: 'svg', model: 'gpt-6-astra', classes: { input: 40, output: 900 } }],
    ],
  ])('%s', (_, body, others) => {
    const { usage } = read({ ...body, usage: USAGE });
    expect(usage?.classes).toEqual({ input: 1, output: 2 });
    expect(usage?.others).toEqual(others);
  });

  test('what is billed beside the usage is kept with it', () => {
    const tool_usage = { image_gen: IMAGE_GEN, web_search: { num_requests: 0 } };
    expect(read({ usage: USAGE, tool_usage }).usage?.native).toEqual({ ...USAGE, tool_usage });
  });
});

describe('a background response is made later', () => {
  const response = { id: 'resp_1', model: 'm', background: true, error: null, usage: null };

  test.each<[string, boolean]>([
    ['queued', false],
    ['in_progress', false],
    ['completed', true],
    ['incomplete', true],
    ['failed', true],
    ['cancelled', true],
  ])('%s: final %s', (status, isFinal) => {
    expect(read({ ...response, status }).laterResult).toMatchObject({ id: 'resp_1', isFinal });
  });

  test('any other is its own result, also when it is fetched again', () => {
    expect(read({ ...response, background: false, status: 'completed' }).laterResult).toBeNull();
    expect(read({ id: 'resp_1', status: 'completed', usage: USAGE }).laterResult).toBeNull();
  });

  test.each([
    ['soonest', false],
    ['8h', true],
  ])('with a completion window of %s: its price is not known %s', (completion_window, isIncomplete) => {
    const { usage } = read({
      ...response,
      status: 'completed',
      usage: USAGE,
      background_options: { completion_window },
    });
    expect(usage?.isIncomplete ?? false).toBe(isIncomplete);
  });

  test('a stream of it is final at its end', () => {
    const event = (type: string, status: string, usage: JsonObject | null) => ({
      type,
      response: { ...response, status, usage },
    });
    const begun = responses.readEvent(null, event('response.queued', 'queued', null), NOTHING_REPORTED);
    expect(begun).toMatchObject({ laterResult: { id: 'resp_1', isFinal: false }, terminal: false });
    const done = responses.readEvent(null, event('response.completed', 'completed', USAGE), begun);
    expect(done).toMatchObject({
      laterResult: { id: 'resp_1', isFinal: true },
      terminal: true,
      usage: { native: USAGE },
    });
  });

  test('the events that say so are looked at, and those that carry text are not', () => {
    const mayMatter = (event: JsonObject) => responses.mayMatter(Buffer.from(JSON.stringify(event)));
    expect(mayMatter({ type: 'response.queued', response })).toBe(true);
    expect(mayMatter({ type: 'response.cancelled', response: { ...response, background: false } })).toBe(true);
    expect(mayMatter({ type: 'response.in_progress', response: { ...response, background: false } })).toBe(false);
    expect(mayMatter({ type: 'response.output_text.delta', delta: '"background":true "usage":{}' })).toBe(false);
  });
});

describe('what goes wrong', () => {
  test('a failed response is an error, and so is an error event', () => {
    const failed = {
      type: 'response.failed',
      response: { model: 'm', status: 'failed', error: { code: 'server_error', message: 'oops' }, usage: null },
    };
    expect(responses.readEvent('response.failed', failed, NOTHING_REPORTED)).toMatchObject({
      error: { type: 'server_error', message: 'oops' },
      model: 'm',
      terminal: true,
    });
    const event = { type: 'error', code: 'rate_limit', message: 'slow down', param: null, sequence_number: 1 };
    expect(responses.readEvent('error', event, NOTHING_REPORTED).error).toEqual({
      type: 'rate_limit',
      message: 'slow down',
    });
  });
});

describe('tools that the usage does not mention', () => {
  const answer = (model: string, tool: JsonObject, item: JsonObject, more: JsonObject = {}) =>
    read({ status: 'completed', model, tools: [tool], output: [item], usage: USAGE, ...more }).usage;
  const picture = { type: 'image_generation_call', status: 'completed', result: 'AAAA' };
  const search = { type: 'web_search_call', status: 'completed', action: { type: 'search' } };

  test('pictures are counted where the tokens of the tool are not reported', () => {
    const tool = { type: 'image_generation', model: 'gpt-image-1' };
    const pictures = { purpose: 'image_generation', model: 'gpt-image-1', classes: { output_images: 1 } };
    expect(answer('gpt-5', tool, picture)?.others).toEqual([pictures]);
    const reported = { tool_usage: { image_gen: { input_tokens: 0, output_tokens: 0, total_tokens: 0 } } };
    expect(answer('gpt-5', tool, picture, reported)?.others).toBeUndefined();
    expect(answer('gpt-5', tool, { ...picture, status: 'failed' })?.others).toBeUndefined();
  });

  test.each([
    ['gpt-4o-2024-08-06', { type: 'web_search' }, { classes: { input: 1, output: 2, web_search_requests: 1 } }],
    ['gpt-5', { type: 'web_search_preview' }, { classes: { input: 1, output: 2, web_search_requests: 1 } }],
    [
      'gpt-4o-2024-08-06',
      { type: 'web_search_preview_2025_03_11' },
      {
        classes: { input: 1, output: 2 },
        others: [{ purpose: 'web_search', model: 'web_search_preview', classes: { web_search_requests: 1 } }],
      },
    ],
    [
      'gpt-4.1-mini-2025-04-14',
      { type: 'web_search' },
      { classes: { input: 1, output: 2, web_search_requests: 1 }, isIncomplete: true },
    ],
  ])('a search of %s with %o is billed as that tool is', (model, tool, expected) => {
    expect(answer(model, tool, search)).toEqual({ reasoning: null, native: USAGE, ...expected });
  });

  test('searches are those that the usage reports, before those that are among the output', () => {
    const usage = { ...USAGE, server_tool_use: { web_search_requests: 2 } };
    expect(answer('deepseek-flash', {}, search, { usage })?.classes.web_search_requests).toBe(2);
  });
});

test('cache writes that are only reported by lifetime are a part of the input', () => {
  const input_tokens_details = { cache_write_tokens_details: { ttl_30m_tokens: 4000, ttl_12h_tokens: 3000 } };
  const usage = { input_tokens: 10_000, input_tokens_details, output_tokens: 10, total_tokens: 10_010 };
  expect(read({ usage }).usage?.classes).toEqual({
    input: 3000,
    cache_creation_30m: 4000,
    cache_creation_12h: 3000,
    output: 10,
  });
});

describe('a call of a tool that the provider ran and that is not known here may be billed', () => {
  const usageOf = (type: string) => read({ output: [{ type, status: 'completed' }], usage: USAGE }).usage;

  test.each(['x_search_call', 'hosted_browser_call', 'maps_call'])('%s leaves the cost open', (type) => {
    expect(usageOf(type)?.isIncomplete).toBe(true);
  });

  test('in a stream as well', () => {
    const response = { status: 'completed', output: [{ type: 'hosted_browser_call' }], usage: USAGE };
    const { usage } = responses.readEvent(null, { type: 'response.completed', response }, NOTHING_REPORTED);
    expect(usage?.isIncomplete).toBe(true);
  });

  test.each([
    'message',
    'reasoning',
    'function_call',
    'function_call_output',
    'custom_tool_call',
    'tool_search_call',
    'mcp_call',
    'mcp_list_tools',
    'computer_call',
    'local_shell_call',
    'shell_call',
    'apply_patch_call',
    'web_search_call',
    'file_search_call',
    'code_interpreter_call',
    'image_generation_call',
  ])('%s does not', (type) => {
    expect(usageOf(type)?.isIncomplete).toBeUndefined();
  });
});
