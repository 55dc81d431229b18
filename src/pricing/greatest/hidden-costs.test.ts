/** What a request may cost beyond its bytes, in every form in which providers accept it. */
import { describe, expect, it } from 'vitest';
import { scanTopLevel } from '../../formats/wire/json-top-level.ts';
import { PROVIDERS } from '../../providers/registry.ts';
import { createPriceBook } from '../price-book.ts';
import { createFindGreatestCost } from './find-greatest-cost.ts';
import type { AskedCall, GreatestCost, NoGreatestCost } from './greatest-cost.ts';

const NOON_MS = Date.UTC(2026, 10, 28, 12);
const findGreatest = createFindGreatestCost(createPriceBook());
const CHAT_OF_GOOGLE = '/v1beta/openai/chat/completions';
const FLASH = '/v1beta/models/gemini-2.5-flash:generateContent';

function unbounded(why: NoGreatestCost, member: string): GreatestCost {
  return { kind: 'unknown', why, member };
}

/** A text is the body as it stands. */
function ask(
  provider: AskedCall['provider'],
  path: string,
  written: string | object,
  more: Partial<AskedCall> = {},
): GreatestCost {
  const body = Buffer.from(typeof written === 'string' ? written : JSON.stringify(written));
  const { defaultRegion, endpoint: endpointOf } = PROVIDERS[provider];
  const endpoint = endpointOf({ method: 'POST', path, query: '', header: () => undefined });
  const named = scanTopLevel(body, ['model']).members.get('model')?.scalar;
  const model = endpoint.model.in === 'path' ? endpoint.model.name : typeof named === 'string' ? named : null;
  return findGreatest(
    {
      provider,
      providerAlias: null,
      endpoint,
      region: defaultRegion,
      requestedAtMs: NOON_MS,
      modelRequested: model,
      contentType: 'application/json',
      body,
      ...more,
    },
    null,
  );
}

function amountOf(greatest: GreatestCost): bigint {
  if (greatest.kind === 'unknown') throw new Error(`no bound: ${greatest.why}`);
  return greatest.amount;
}

describe('a cache on Bedrock that is written without being asked for', () => {
  const ASKED = { input: 'x'.repeat(10_000), max_output_tokens: 100 };

  it.each([
    // 2.75 a million for a write, where input is 2.2; 11 for output.
    ['openai.gpt-6-sol', 2_750_000n, 11_000_000n],
    ['us.openai.gpt-6-sol', 2_750_000n, 11_000_000n],
    // 4.125, where input is 3.3; 16.5 for output.
    ['moonshotai.kimi-k3', 4_125_000n, 16_500_000n],
  ])('is in the bound of %s', (model, write, output) => {
    const greatest = ask('bedrock', '/openai/v1/responses', { model, ...ASKED });
    if (greatest.kind === 'unknown') throw new Error(`no bound: ${greatest.why}`);
    const { amount, promptTokens } = greatest;
    expect(promptTokens).toBeGreaterThan(10_000);
    const exact = BigInt(promptTokens) * write + 100n * output;
    expect([amount >= exact, amount - exact < 100n]).toEqual([true, true]);
  });

  it('is not in that of Claude, whose requests mark what is written', () => {
    const body = { messages: [{ role: 'user', content: [{ text: 'Hi' }] }], inferenceConfig: { maxTokens: 1 } };
    const greatest = ask('bedrock', '/model/us.anthropic.claude-sonnet-4-5-20250929-v1:0/converse', body);
    if (greatest.kind === 'unknown') throw new Error(`no bound: ${greatest.why}`);
    // 3.3 a million for input, 16.5 for output.
    const exact = BigInt(greatest.promptTokens) * 3_300_000n + 16_500_000n;
    expect([greatest.amount >= exact, greatest.amount - exact < 100n]).toEqual([true, true]);
  });
});

describe("Google's members, in both of the spellings that its JSON has", () => {
  const describeIt = (part: object): object => ({
    contents: [{ parts: [part, { text: 'Describe' }] }],
    generationConfig: { maxOutputTokens: 100 },
  });

  it.each([
    { fileData: { fileUri: 'https://youtube.com/watch?v=1' } },
    { file_data: { file_uri: 'https://youtube.com/watch?v=1' } },
    { inlineData: { mimeType: 'video/mp4', data: 'AAAA' } },
    { inline_data: { mime_type: 'video/mp4', data: 'AAAA' } },
  ])('%j fills the context window, and may be sound', (part) => {
    // A million tokens of sound at 1 dollar, a hundred of output at 2.50.
    expect(ask('gemini', FLASH, describeIt(part))).toEqual({
      kind: 'known',
      amount: 1_048_576n * 1_000_000n + 100n * 2_500_000n + 36n,
      outputLimit: 'stated',
      promptTokens: 1_048_576,
      outputTokens: 100,
    });
  });

  it.each([
    { inlineData: { mimeType: 'image/png', data: 'AAAA' } },
    { inline_data: { mime_type: 'image/png', data: 'AAAA' } },
  ])('%j is a picture', (part) => {
    const bytes = JSON.stringify(describeIt(part)).length;
    expect(ask('gemini', FLASH, describeIt(part))).toMatchObject({ promptTokens: bytes + 10_000 + 512 });
  });

  it.each([
    [{ generationConfig: { candidateCount: 8, maxOutputTokens: 7 } }, 56],
    [{ generationConfig: { candidate_count: 8, max_output_tokens: 7 } }, 56],
    [{ generation_config: { candidateCount: 8, maxOutputTokens: 7 } }, 56],
    [{ generation_config: { candidate_count: 8, max_output_tokens: 7 } }, 56],
    [{ generationConfig: { candidateCount: '8', maxOutputTokens: '7' } }, 56],
    [{ generationConfig: { candidate_count: '8', max_output_tokens: 7 } }, 56],
    [{ generationConfig: { candidateCount: '8e0', maxOutputTokens: 7 } }, 56],
    // Its schema is too long to be read; eight are the most that there can be.
    [{ generationConfig: { maxOutputTokens: 7, responseSchema: { description: 'x'.repeat(300_000) } } }, 8 * 65_536],
  ])('counts are read in %#', (more, outputTokens) => {
    expect(ask('gemini', FLASH, { contents: [], ...more })).toMatchObject({ outputTokens });
  });

  it.each([
    { tools: [{ function_declarations: [{ name: 'f', parameters: { type: 'OBJECT' } }] }] },
    { tools: [{ functionDeclarations: [{ name: 'f', parameters: { type: 'OBJECT' } }] }] },
  ])('%j is run by the client', (tools) => {
    const body = { contents: [], ...tools };
    expect(ask('gemini', FLASH, body)).toMatchObject({ promptTokens: JSON.stringify(body).length + 512 + 1_024 });
  });
});

describe('what the provider keeps under an id', () => {
  it.each([
    [{ type: 'item_reference', id: 'msg_68a1' }],
    [{ id: 'msg_68a1', type: 'item_reference' }],
    [{ id: 'msg_68a1' }],
    [{ id: 'msg_68a1', type: null }],
    [{ type: null, id: 'msg_68a1' }],
    [{ status: null, id: 'msg_68a1', type: null, role: null }],
  ])('fills the context window as %j in the input', (item) => {
    const body = { model: 'gpt-4o', max_output_tokens: 10, input: [{ role: 'user', content: 'Go on.' }, item] };
    expect(ask('openai', '/v1/responses', body)).toMatchObject({ promptTokens: 128_000 });
  });

  it.each([
    { id: 'audio_1' },
    { id: 'audio_1', data: 'AAAA', transcript: 'Hello.', expires_at: 1 },
    { expires_at: 1, transcript: 'Hello.', id: 'audio_1' },
  ])('fills the context window as the sound of an earlier answer, %j', (audio) => {
    const body = { model: 'gpt-4o-audio-preview', max_tokens: 10, messages: [{ role: 'assistant', audio }] };
    expect(ask('openai', '/v1/chat/completions', body)).toMatchObject({ promptTokens: 128_000 });
  });

  it.each([
    { type: 'computer_screenshot', file_id: 'file-1' },
    { type: 'computer_screenshot', image_url: 'https://example.com/screen.png' },
  ])('is a picture as %j', (output) => {
    const body = {
      model: 'gpt-5',
      max_output_tokens: 10,
      input: [{ type: 'computer_call_output', call_id: 'c', output }],
    };
    const bytes = JSON.stringify(body).length;
    expect(ask('openai', '/v1/responses', body)).toMatchObject({ promptTokens: bytes + 12_000 + 512 });
  });

  it('is a picture as one that was drawn before', () => {
    const body = { model: 'gpt-5', max_output_tokens: 10, input: [{ type: 'image_generation_call', id: 'ig_1' }] };
    const bytes = JSON.stringify(body).length;
    expect(ask('openai', '/v1/responses', body)).toMatchObject({ promptTokens: bytes + 12_000 + 512 });
  });

  it.each([
    [[{ type: 'reasoning', id: 'rs_1', summary: [] }], 128_000],
    [[{ type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: null }], 128_000],
    [
      [
        { type: 'compaction', id: 'cmp_1', encrypted_content: 'gAAA' },
        { type: 'reasoning', id: 'rs_1', summary: [] },
      ],
      128_000,
    ],
    // What one item holds twice stands for no other one.
    [
      [
        {
          type: 'reasoning',
          id: 'rs_1',
          content: [{ type: 'reasoning_text', text: 'Hm.' }],
          encrypted_content: 'gAAA',
        },
        { type: 'reasoning', id: 'rs_2', summary: [] },
      ],
      128_000,
    ],
    [[{ type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: '' }], 128_000],
    [[{ type: 'reasoning', id: 'rs_1', content: [{ type: 'reasoning_text', text: '' }] }], 128_000],
    [[{ type: 'compaction', id: 'cmp_1' }], 128_000],
    [[{ summary: [{ text: 'A "{" \\' }], encrypted_content: 'gAAA', type: 'reasoning' }], 645],
    [[{ id: 'rs_1', type: 'reasoning', summary: [], encrypted_content: 'gAAA' }], 636],
    [[{ type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'Hm.' }] }], 648],
  ])('fills the context window as what a model thought, where %j does not hold it', (input, promptTokens) => {
    const body = { model: 'gpt-4o', max_output_tokens: 10, input };
    expect(ask('openai', '/v1/responses', body)).toMatchObject({ promptTokens });
  });

  it('is none of the ids that tools are called with', () => {
    const call = { type: 'tool_use', id: 'toolu_01A', name: 'find', input: { id: 'usr_42' } };
    const body = {
      model: 'claude-sonnet-4-5',
      max_tokens: 10,
      messages: [{ role: 'assistant', content: [call] }],
    };
    expect(ask('anthropic', '/v1/messages', body)).toMatchObject({
      promptTokens: JSON.stringify(body).length + 512,
    });
  });

  it.each([
    ['cachedContent', 'gemini', FLASH, { contents: [], cachedContent: 'cachedContents/1' }],
    ['cached_content', 'gemini', FLASH, { contents: [], cached_content: 'cachedContents/1' }],
    ['extra_body', 'gemini', CHAT_OF_GOOGLE, { extra_body: { google: { cached_content: 'cachedContents/1' } } }],
    ['google', 'gemini', CHAT_OF_GOOGLE, { google: { cachedContent: 'cachedContents/1' } }],
    ['prompt', 'openai', '/v1/responses', { input: 'Hi', prompt: { id: 'pmpt_1' } }],
  ] as const)('has no maximum where it may hold tools: %s of %s %s %j', (member, provider, path, more) => {
    const model = provider === 'gemini' ? 'gemini-2.5-flash' : 'gpt-4o';
    const named = path === FLASH ? more : { model, max_tokens: 10, messages: [], ...more };
    expect(ask(provider, path, named)).toEqual(unbounded('kept-tools', member));
  });

  it('is not there with other words for Google', () => {
    const body = {
      model: 'gemini-2.5-flash',
      max_tokens: 10,
      messages: [],
      extra_body: { google: { thinking_config: { thinking_budget: 100 } } },
    };
    expect(ask('gemini', '/v1beta/openai/chat/completions', body)).toMatchObject({
      promptTokens: JSON.stringify(body).length + 512,
    });
  });
});

describe('tools that the provider runs', () => {
  const messages = [{ role: 'user', content: 'Hello.' }];
  const askClaude = (tools: readonly object[]): GreatestCost =>
    ask('anthropic', '/v1/messages', { model: 'claude-sonnet-4-5', max_tokens: 100, messages, tools });

  it.each([
    ['openai', '/v1/responses', { model: 'gpt-5-mini' }, { type: 'image_generation', model: 'gpt-image-1' }],
    ['openai', '/v1/responses', { model: 'gpt-5-mini' }, { type: 'image_generation' }],
    // Its searches are priced as those of a model of its name.
    ['openai', '/v1/responses', { model: 'gpt-4o' }, { type: 'web_search_preview' }],
  ] as const)('have no maximum where another model is called: %s %s %j %j', (provider, path, model, tool) => {
    const body = { ...model, input: 'Draw.', max_output_tokens: 100, max_tool_calls: 1, tools: [tool] };
    const isDrawing = tool.type === 'image_generation';
    const [why, type] = isDrawing ? (['other-models', tool.type] as const) : (['endless-tools', 'web_search'] as const);
    expect(ask(provider, path, body)).toEqual(unbounded(why, type));
  });

  it('have no maximum where they ask a dearer model', () => {
    const advisor = { type: 'advisor_20260301', name: 'advisor', model: 'claude-opus-5', max_uses: 1 };
    expect(askClaude([advisor])).toEqual(unbounded('other-models', 'advisor'));
  });

  it('are limited by their own member alone', () => {
    const search = { type: 'web_search_20250305', name: 'web_search' };
    const custom = { name: 'f', input_schema: { type: 'object', properties: { max_uses: 1 } }, max_uses: 1 };
    expect(askClaude([search, custom])).toEqual(unbounded('endless-tools', 'web_search'));
    expect(askClaude([search, { ...search, max_uses: 2 }])).toEqual(unbounded('endless-tools', 'web_search'));
    expect(askClaude([{ ...search, max_uses: 2 }, custom])).toMatchObject({
      promptTokens: 3_000_000,
      outputTokens: 300,
    });
  });

  it('have none where they run code on what they find, whatever their own member says', () => {
    const search = { type: 'web_search_20260209', name: 'web_search', max_uses: 2 };
    expect(askClaude([search])).toEqual(unbounded('endless-tools', 'web_search'));
    expect(askClaude([{ ...search, type: 'web_search_20250305' }])).toMatchObject({ outputTokens: 300 });
  });

  it('are read of the members that AWS passes on to the model', () => {
    const converse = (additionalModelRequestFields: object) =>
      ask('bedrock', '/model/anthropic.claude-sonnet-4-5-20250929-v1:0/converse', {
        messages: [{ role: 'user', content: [{ text: 'Hello.' }] }],
        inferenceConfig: { maxTokens: 100 },
        additionalModelRequestFields,
      });
    const tools = [
      { type: 'bash_20250124', name: 'bash' },
      { type: 'text_editor_20250728', name: 'str_replace_based_edit_tool' },
    ];
    // 247 bytes of the request, 512 tokens around it, 1,024 to introduce tools, and 4,096 for each description.
    expect(converse({ tools })).toMatchObject({ promptTokens: 247 + 512 + 1_024 + 2 * 4_096, outputTokens: 100 });
    expect(converse({ max_tokens: 300 })).toMatchObject({ outputTokens: 300 });
    expect(converse({ tools: [{ type: 'web_search_20250305', name: 'web_search' }] })).toEqual(
      unbounded('endless-tools', 'web_search'),
    );
  });

  it('are not those that a schema speaks of', () => {
    const custom = {
      name: 'f',
      input_schema: { type: 'object', properties: { type: { enum: ['a'] }, of: { type: 'date' } } },
    };
    const body = { model: 'claude-sonnet-4-5', max_tokens: 100, messages, tools: [custom] };
    expect(ask('anthropic', '/v1/messages', body)).toMatchObject({
      promptTokens: JSON.stringify(body).length + 512 + 1_024,
    });
  });

  it.each([
    ['additional_tools', { input: [{ type: 'additional_tools', tools: [{ type: 'web_search' }] }] }],
    ['web_search', { input: 'Hi', tools: [{ type: 'namespace', name: 'n', tools: [{ type: 'web_search' }] }] }],
    ['web_search', { input: 'Hi', tools: { type: 'web_search' } }],
    ['tool_search', { input: 'Hi', tools: [{ type: 'tool_search', execution: 'client' }] }],
    ['web_search_options', { input: 'Hi', web_search_options: {} }],
    // A name that the client made up is not repeated to anybody.
    ['tools', { input: 'Hi', tools: [{ type: 'my secret' }] }],
  ])('have no maximum where nothing limits %s: %j', (member, more) => {
    expect(ask('openai', '/v1/responses', { model: 'gpt-5-mini', max_output_tokens: 100, ...more })).toEqual(
      unbounded('endless-tools', member),
    );
  });

  it('have none where their groups are as deep as no stack', () => {
    const deep = `${'['.repeat(50_000)}{"type":"web_search"}${']'.repeat(50_000)}`;
    const text = `{"model":"gpt-5-mini","max_output_tokens":100,"max_tool_calls":1,"input":"Hi","tools":${deep}}`;
    expect(ask('openai', '/v1/responses', text)).toMatchObject({ kind: 'known', outputTokens: 200 });
    expect(ask('openai', '/v1/responses', text.replace('"max_tool_calls":1,', ''))).toEqual(
      unbounded('endless-tools', 'tools'),
    );
  });

  it('of Google have none where they call servers', () => {
    const tools = [{ mcpServers: [{ name: 'm' }] }];
    expect(ask('gemini', FLASH, { contents: [], tools })).toEqual(unbounded('endless-tools', 'tools'));
  });
});

describe('fees', () => {
  it('are those of both kinds of grounding', () => {
    const amountWith = (tools: readonly object[]): bigint => {
      const body = { contents: [], generationConfig: { maxOutputTokens: 7 }, tools, pad: '' };
      // The same number of bytes, so that the fees are the difference.
      const pad = 'x'.repeat(200 - JSON.stringify(body).length);
      return amountOf(ask('gemini', FLASH, { ...body, pad }));
    };
    const [none, search, both] = [[], [{ googleSearch: {} }], [{ googleSearch: {} }, { googleMaps: {} }]].map(
      amountWith,
    );
    const together = amountWith([{ google_search: {}, google_maps: {} }]);
    // 35 dollars a thousand; an empty list has no introduction to tools.
    const fee = 35_000_000_000n;
    expect([(search ?? 0n) - (none ?? 0n) >= fee, (both ?? 0n) - (search ?? 0n), together - (search ?? 0n)]).toEqual([
      true,
      fee,
      fee,
    ]);
  });

  it('are those of models that search before every answer, which may read what they found', () => {
    const body = { model: 'gpt-5-search-api', max_tokens: 100, messages: [] };
    // 1.25 and 10 dollars a million, and one search at 10 dollars a thousand.
    expect(ask('openai', '/v1/chat/completions', body)).toEqual({
      kind: 'known',
      amount: 272_000n * 1_250_000n + 100n * 10_000_000n + 10_000_000_000n + 38n,
      outputLimit: 'stated',
      promptTokens: 272_000,
      outputTokens: 100,
    });
  });
});

describe('a list of prompts', () => {
  const complete = (prompt: unknown): GreatestCost =>
    ask('openai', '/v1/completions', { model: 'gpt-3.5-turbo-instruct', max_tokens: 16, prompt });

  it('may fill the context window with each of them', () => {
    // 320,126 bytes of the request, and 20 windows of 4,096.
    expect(complete(Array.from({ length: 15 }, () => 'x'.repeat(16_384)))).toMatchObject({
      promptTokens: 15 * 16_385,
      outputTokens: 15 * 16,
    });
    // The bytes of the request, and 512 tokens that no byte is for.
    expect(complete(['x'.repeat(16_384), 'y'])).toMatchObject({ promptTokens: 16_452 + 512, outputTokens: 32 });
    expect(complete([[1, 2], [3]])).toMatchObject({ outputTokens: 32 });
    expect(complete([1, 2, 3])).toMatchObject({ outputTokens: 16 });
  });

  it('has no maximum where it is too long to be counted', () => {
    expect(complete(Array.from({ length: 20 }, () => 'x'.repeat(16_384)))).toEqual(
      unbounded('unknown-length', 'prompt'),
    );
    // One prompt, of tokens.
    expect(complete(Array.from({ length: 60_000 }, () => 12_345))).toMatchObject({
      promptTokens: 16_385,
      outputTokens: 16,
    });
  });
});

describe('terms', () => {
  const NOVA = '/model/amazon.nova-pro-v1:0/invoke';
  const body = { messages: [], inferenceConfig: { maxTokens: 10 } };
  const tokens = BigInt(JSON.stringify(body).length + 512);

  it('are read of the headers that ask for them', () => {
    expect(amountOf(ask('bedrock', NOVA, body))).toBe(tokens * 800_000n + 10n * 3_200_000n + 36n);
    expect(amountOf(ask('bedrock', NOVA, body, { askedByHeaders: { serviceTier: 'priority', speed: null } }))).toBe(
      tokens * 1_400_000n + 10n * 5_600_000n + 36n,
    );
  });

  it('of a header and of the body are both possible', () => {
    const asked = { ...body, serviceTier: { type: 'priority' } };
    const bytes = BigInt(JSON.stringify(asked).length + 512);
    expect(amountOf(ask('bedrock', NOVA, asked, { askedByHeaders: { serviceTier: 'flex', speed: null } }))).toBe(
      bytes * 1_400_000n + 10n * 5_600_000n + 36n,
    );
  });

  it('are read of the body of a conversation, and no list has a price for this one', () => {
    const asked = { ...body, performanceConfig: { latency: 'optimized' } };
    expect(ask('bedrock', '/model/amazon.nova-pro-v1:0/converse', asked)).toEqual({ kind: 'unknown', why: 'unpriced' });
  });

  it.each([{ n: '3' }, { n: 3 }, { best_of: '3' }])('count %j in digits as well', (more) => {
    const asked = { model: 'gpt-4o-mini', max_tokens: 10, messages: [], ...more };
    expect(ask('openai', '/v1/chat/completions', asked)).toMatchObject({ outputTokens: 30 });
  });

  it('are the greater of two maxima, also in digits', () => {
    const asked = { model: 'gpt-4o-mini', max_tokens: 10, max_completion_tokens: '5000', messages: [] };
    expect(ask('openai', '/v1/chat/completions', asked)).toMatchObject({ outputTokens: 5_000 });
  });
});

describe('letters that are written as escapes', () => {
  const begin = '{"model":"claude-sonnet-4-5","max_tokens":100,';

  it('hide no tool of the provider', () => {
    const tools = String.raw`"messages":[],"tools":[{"type":"web_search_2025\u0030305","name":"web_search"}]}`;
    expect(ask('anthropic', '/v1/messages', begin + tools)).toEqual(unbounded('endless-tools', 'web_search'));
    const google = String.raw`{"contents":[],"tools":[{"google\u0053earch":{}},{"codeE\u0078ecution":{}}]}`;
    expect(ask('gemini', FLASH, google)).toEqual(unbounded('endless-tools', 'tools'));
  });

  it('hide no picture, document or reference', () => {
    const picture = String.raw`${begin}"messages":[{"role":"user","content":[{"type":"im\u0061ge"}]}]}`;
    expect(ask('anthropic', '/v1/messages', picture)).toMatchObject({ promptTokens: picture.length + 4_784 + 512 });
    const paper = String.raw`${begin}"messages":[{"role":"user","content":[{"typ\u0065":"document"}]}]}`;
    expect(ask('anthropic', '/v1/messages', paper)).toMatchObject({ promptTokens: 1_000_000 });
    const kept = String.raw`{"model":"gpt-4o","max_output_tokens":10,"input":[{"id":"msg_1","type":"item\u005freference"}]}`;
    expect(ask('openai', '/v1/responses', kept)).toMatchObject({ promptTokens: 128_000 });
  });

  it('hide no write of a cache', () => {
    const text = String.raw`${begin}"messages":[],"system":[{"cache\u005fcontrol":{"ttl":"\u0031h"}}]}`;
    // Twice the input price of 3 dollars a million.
    expect(amountOf(ask('anthropic', '/v1/messages', text))).toBe(
      BigInt(text.length + 512) * 6_000_000n + 100n * 15_000_000n + 36n,
    );
  });

  it('hide no agent', () => {
    const text = String.raw`${begin}"messages":[],"context_management":{"edits":[{"type":"comp\u0061ct_20260112"}]}}`;
    expect(ask('anthropic', '/v1/messages', text)).toEqual(unbounded('other-models', 'context_management'));
  });

  it('are no letters behind an escaped backslash', () => {
    const text = String.raw`${begin}"messages":[{"role":"user","content":"\\u0061 \u003c \"type\":\"im\u0061ge\""}]}`;
    expect(ask('anthropic', '/v1/messages', text)).toMatchObject({ promptTokens: text.length + 512 });
  });
});
