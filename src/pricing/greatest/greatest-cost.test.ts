/** No recorded answer and no worked case costs more than the bound of a request that could have caused it. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AskedAndEnded, listAskedCalls } from '../../../test/support/asked-calls.ts';
import { PROVIDERS } from '../../providers/registry.ts';
import { formatUsd } from '../../vocabulary/usd.ts';
import { createPriceBook } from '../price-book.ts';
import { createFindGreatestCost } from './find-greatest-cost.ts';
import type { AskedCall, GreatestCost } from './greatest-cost.ts';
import { settledCostOf } from './settled-cost.ts';

/** Made-up answers that no provider gives to the request beside them. */
const IMPOSSIBLE: Readonly<Record<string, string>> = {
  'anthropic/messages-beta-compaction': 'compacts, which was not asked for',
  'anthropic/messages-tool-use': 'searches the web with a tool that was not given',
  'own-together-gpt-oss': 'has a prompt of eight times the context window',
};

const BOOK = createPriceBook();
const findGreatest = createFindGreatestCost(BOOK);

async function listCalls(): Promise<readonly AskedAndEnded[]> {
  // What is fetched was paid for by the call that asked for it, which is the one that is bounded.
  return (await listAskedCalls()).filter(({ asked }) => asked.endpoint.fetchesResult !== true);
}

describe('the greatest cost', () => {
  it('is never less than what a recorded answer or a worked case has cost', async () => {
    const calls = await listCalls();
    const exceeded = calls.flatMap(({ name, asked, begin, end }) => {
      const greatest = findGreatest(asked, null);
      const settled = settledCostOf(begin, end, BOOK);
      const cost = settled.kind === 'exact' ? settled.amount : settled.knownAmount;
      if (greatest.kind === 'unknown' || cost <= greatest.amount || name in IMPOSSIBLE) return [];
      return [`${name}: at most ${formatUsd(greatest.amount)}, cost ${formatUsd(cost)}`];
    });
    expect(exceeded).toEqual([]);
    const known = calls.filter(({ asked }) => findGreatest(asked, null).kind === 'known');
    expect([calls.length > 300, known.length > 270]).toEqual([true, true]);
  });
});

const NOON_MS = Date.UTC(2026, 10, 28, 12);

function ask(
  provider: AskedCall['provider'],
  path: string,
  body: unknown,
  more: Partial<AskedCall> = {},
): GreatestCost {
  const bytes = Buffer.from(JSON.stringify(body));
  const endpoint = PROVIDERS[provider].endpoint({ method: 'POST', path, query: '', header: () => undefined });
  const named: unknown = JSON.parse(bytes.toString());
  const model = typeof named === 'object' && named !== null && 'model' in named ? named.model : null;
  return findGreatest(
    {
      provider,
      providerAlias: null,
      endpoint,
      region: PROVIDERS[provider].defaultRegion,
      requestedAtMs: NOON_MS,
      modelRequested: endpoint.model.in === 'path' ? endpoint.model.name : typeof model === 'string' ? model : null,
      contentType: 'application/json',
      body: bytes,
      ...more,
    },
    null,
  );
}

/** Content as chats have it, some of it what bounds are looked for by. */
const content = fc.oneof(
  fc.string({ maxLength: 200 }),
  fc.constantFrom('"type":"image"', '{"image": {"format"', ' "cache_control"', '\\u0061', 'x'.repeat(70_000)),
  fc.array(
    fc.constantFrom(
      { type: 'text', text: 'Hello.' },
      { type: 'image_url', image_url: { url: 'https://example.com/cat.png' } },
      { type: 'text', text: 'Hello.', cache_control: { type: 'ephemeral', ttl: '1h' } },
      { type: 'input_file', file_id: 'file-1' },
      { image: { format: 'png', source: {} } },
      { inlineData: { mimeType: 'image/png', data: 'AAAA' } },
      { file_data: { file_uri: 'https://example.com/film' } },
      { type: 'item_reference', id: 'msg_1' },
      { id: 'msg_1' },
      { audio: { id: 'audio_1' } },
      { type: 'computer_screenshot', file_id: 'file-1' },
      { type: 'tool_addition', tool: {} },
    ),
    { maxLength: 3 },
  ),
);
const member = fc.constantFrom(
  { max_tokens: 100 },
  { max_completion_tokens: 200 },
  { temperature: 0.5 },
  { prompt_cache_key: 'k' },
  { n: 3 },
  { tools: [{ type: 'function', function: { name: 'f' } }] },
  { service_tier: 'auto' },
  { stream: true },
);

it('is the same for a plain request, which is read in a shorter way, as for one that says nothing more', () => {
  fc.assert(
    fc.property(
      fc.array(content, { minLength: 1, maxLength: 3 }),
      fc.array(member, { maxLength: 3 }),
      fc.constantFrom(
        ['openai', 'gpt-4o-mini', '/v1/chat/completions'],
        ['anthropic', 'claude-sonnet-4-5', '/v1/messages'],
      ),
      (contents, members, [provider, model, path]) => {
        const messages = contents.map((each) => ({ role: 'user', content: each }));
        const body = Object.assign({ model, messages }, ...members);
        const asked = (name: string) =>
          ask(provider === 'openai' ? 'openai' : 'anthropic', path ?? '', { ...body, [name]: null });
        // A member of which bounds know, which says nothing, and one as long of which they know nothing.
        expect(asked('spree')).toEqual(asked('speed'));
      },
    ),
    { numRuns: 300 },
  );
});

const HELLO = [{ role: 'user', content: 'Hello.' }];

describe('a bound', () => {
  it('is the bytes as tokens and the stated maximum, at the list price', () => {
    const body = { model: 'gpt-4o-mini', max_tokens: 1_000, messages: HELLO };
    // 89 bytes, and 512 tokens that no byte is for; 0.15 and 0.60 dollars a million.
    expect(ask('openai', '/v1/chat/completions', body)).toEqual({
      kind: 'known',
      amount: 601n * 150_000n + 1_000n * 600_000n + 36n,
      outputLimit: 'stated',
      promptTokens: 601,
      outputTokens: 1_000,
    });
  });

  it("takes the model's own maximum where none is stated", () => {
    expect(ask('openai', '/v1/chat/completions', { model: 'gpt-4o-mini', messages: HELLO })).toMatchObject({
      outputLimit: 'model',
      outputTokens: 16_384,
    });
    expect(ask('gemini', '/v1beta/models/gemini-2.5-flash:generateContent', { contents: [] })).toMatchObject({
      outputTokens: 65_536,
    });
  });

  it('counts every answer that is asked for', () => {
    const body = { model: 'gpt-4o-mini', max_tokens: 10, n: 3, messages: HELLO };
    expect(ask('openai', '/v1/chat/completions', body)).toMatchObject({ outputTokens: 30 });
    const prompts = { model: 'gpt-3.5-turbo-instruct', max_tokens: 10, best_of: 2, prompt: ['a', 'b', 'c'] };
    expect(ask('openai', '/v1/completions', prompts)).toMatchObject({ outputTokens: 60 });
    const candidates = { contents: [], generationConfig: { candidateCount: 2, maxOutputTokens: 7 } };
    expect(ask('gemini', '/v1beta/models/gemini-2.5-flash:generateContent', candidates)).toMatchObject({
      outputTokens: 14,
    });
    const converse = { messages: [], inferenceConfig: { maxTokens: 9 } };
    expect(ask('bedrock', '/model/amazon.nova-lite-v1:0/converse', converse)).toMatchObject({ outputTokens: 9 });
  });

  it('fills the context window with what the provider keeps or what no byte tells', () => {
    const kept = { model: 'gpt-4o', max_output_tokens: 10, input: 'Hi', previous_response_id: 'resp_1' };
    expect(ask('openai', '/v1/responses', kept)).toMatchObject({ promptTokens: 128_000 });
    const source = { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0x' };
    const paper = {
      model: 'claude-sonnet-4-5',
      max_tokens: 10,
      messages: [{ role: 'user', content: [{ type: 'document', source }] }],
    };
    expect(ask('anthropic', '/v1/messages', paper)).toMatchObject({ promptTokens: 1_000_000 });
  });

  it('counts a picture by its greatest size and not by its bytes', () => {
    const source = { type: 'base64', media_type: 'image/png', data: 'A'.repeat(500_000) };
    const body = {
      model: 'claude-sonnet-4-5',
      max_tokens: 10,
      messages: [{ role: 'user', content: [{ type: 'image', source }] }],
    };
    const bytes = JSON.stringify(body).length - 500_000;
    expect(ask('anthropic', '/v1/messages', body)).toMatchObject({ promptTokens: bytes + 4_784 + 512 });
  });

  it('is at the dearest rate that the request could cause', () => {
    const plain = { model: 'claude-sonnet-4-5', max_tokens: 1, messages: HELLO };
    const amountOf = (body: object): bigint => {
      const found = ask('anthropic', '/v1/messages', body);
      return found.kind === 'known' ? found.amount : 0n;
    };
    const written = {
      ...plain,
      system: [{ type: 'text', text: 'x', cache_control: { type: 'ephemeral', ttl: '1h' } }],
    };
    const tokens = BigInt(JSON.stringify(written).length + 512);
    // Twice the input price of 3 dollars a million.
    expect(amountOf(written)).toBe(tokens * 6_000_000n + 15_000_000n + 36n);
    const flex = ask('openai', '/v1/chat/completions', {
      model: 'gpt-5',
      max_tokens: 10,
      service_tier: 'flex',
      messages: HELLO,
    });
    const auto = ask('openai', '/v1/chat/completions', {
      model: 'gpt-5',
      max_tokens: 10,
      service_tier: 'auto',
      messages: HELLO,
    });
    const [cheap, dear] = [flex, auto].map((found) => (found.kind === 'known' ? found.amount : 0n));
    expect(dear).toBeGreaterThan((cheap ?? 0n) * 3n);
  });

  it.each([
    [
      'no price',
      'openai',
      '/v1/chat/completions',
      { model: 'nobody-knows', max_tokens: 1, messages: HELLO },
      'unpriced',
    ],
    [
      'a name that is longer than any',
      'openai',
      '/v1/chat/completions',
      { model: `gpt-4o-${'x'.repeat(600)}`, messages: HELLO },
      'unpriced',
    ],
    ['no JSON', 'openai', '/v1/chat/completions', 'text', 'unread-body'],
    ['a batch', 'openai', '/v1/batches', { input_file_id: 'file-1' }, 'billed-later'],
    [
      'searches without a limit',
      'anthropic',
      '/v1/messages',
      {
        model: 'claude-sonnet-4-5',
        max_tokens: 1,
        messages: HELLO,
        tools: [{ type: 'web_search_20250305', name: 'web_search' }],
      },
      'endless-tools',
    ],
    [
      'agents of the provider',
      'anthropic',
      '/v1/messages',
      { model: 'claude-sonnet-4-5', max_tokens: 1, messages: HELLO, mcp_servers: [{}] },
      'endless-tools',
    ],
  ] as const)('is not known with %s', (_, provider, path, body, why) => {
    expect(ask(provider, path, body, typeof body === 'string' ? { modelRequested: 'gpt-4o' } : {})).toMatchObject({
      kind: 'unknown',
      why,
    });
  });

  it('is known of searches with a limit: each reads the whole context again', () => {
    const tools = [{ type: 'web_search_20250305', name: 'web_search', max_uses: 2 }];
    const body = { model: 'claude-sonnet-4-5', max_tokens: 100, messages: HELLO, tools };
    expect(ask('anthropic', '/v1/messages', body)).toMatchObject({ promptTokens: 3_000_000, outputTokens: 300 });
  });

  it('is nothing for what costs nothing', () => {
    expect(
      ask('anthropic', '/v1/messages/count_tokens', { model: 'claude-sonnet-4-5', messages: HELLO }),
    ).toMatchObject({
      kind: 'known',
      amount: 0n,
    });
  });

  it('is at the rates of long prompts where the prompt may be one', () => {
    const short = { model: 'claude-sonnet-4-5', max_tokens: 1, messages: HELLO };
    const long = { ...short, messages: [{ role: 'user', content: 'x'.repeat(200_000) }] };
    const [first, second] = [ask('anthropic', '/v1/messages', short), ask('anthropic', '/v1/messages', long)];
    if (first.kind !== 'known' || second.kind !== 'known') throw new Error('both have a bound');
    expect(first.amount / BigInt(first.promptTokens)).toBeLessThan(3_100_000n);
    expect(second.amount / BigInt(second.promptTokens)).toBeGreaterThanOrEqual(6_000_000n);
  });
});
