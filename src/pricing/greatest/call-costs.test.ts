import { describe, expect, it } from 'vitest';
import { PROVIDERS } from '../../providers/registry.ts';
import { createPriceBook } from '../price-book.ts';
import type { BilledBegin, BilledEnd } from '../to-billable-call.ts';
import { type CallCosts, createCallCosts } from './call-costs.ts';
import type { GreatestCost } from './greatest-cost.ts';

const BOOK = createPriceBook();
const NOON_MS = Date.UTC(2026, 10, 28, 12);
const ENDPOINT = PROVIDERS.anthropic.endpoint({
  method: 'POST',
  path: '/v1/messages',
  query: '',
  header: () => undefined,
});
const MODEL = 'claude-sonnet-4-5';

/** The tools come behind the conversation, as the official SDKs write them. */
function bodyOf(texts: readonly string[], more: object = {}): Buffer {
  const messages = texts.map((content, index) => ({ role: index % 2 === 0 ? 'user' : 'assistant', content }));
  const tools = [{ name: 'read', description: 'It reads. '.repeat(600), input_schema: { type: 'object' } }];
  return Buffer.from(JSON.stringify({ model: MODEL, max_tokens: 100, messages, tools, ...more }));
}

/** Text that repeats nowhere. */
function textOf(seed: number, length: number): string {
  let state = seed;
  let text = '';
  while (text.length < length) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    text += `${state.toString(36)} `;
  }
  return text.slice(0, length);
}

function ask(costs: CallCosts, id: string, body: Buffer, conversations = 'run-1'): GreatestCost {
  return costs.greatestOf(1, {
    id,
    conversations,
    keyId: 7,
    provider: 'anthropic',
    providerAlias: null,
    endpoint: ENDPOINT,
    region: null,
    requestedAtMs: NOON_MS,
    modelRequested: MODEL,
    contentType: 'application/json',
    body,
  });
}

function settle(costs: CallCosts, id: string, input: number, more: Partial<BilledEnd> = {}): bigint | string {
  const begin: BilledBegin & { id: string } = {
    id,
    provider: 'anthropic',
    providerAlias: null,
    endpoint: 'messages',
    billed: true,
    requestedAtMs: NOON_MS,
    region: null,
    isBatch: false,
  };
  const settled = costs.settledOf(1, begin, {
    model: MODEL,
    modelRequested: MODEL,
    serviceTier: 'standard',
    speed: null,
    inferenceGeo: null,
    outcome: 'ok',
    status: 200,
    errorType: null,
    usage: { classes: { input, output: 10 }, reasoning: null, native: {} },
    usageSource: 'provider',
    flags: [],
    ...more,
  });
  if (settled.kind === 'exact') return settled.amount;
  return settled.kind === 'repeated' ? 'repeated' : settled.why;
}

function promptOf(greatest: GreatestCost): number {
  return greatest.kind === 'known' ? greatest.promptTokens : -1;
}

const FIRST = bodyOf([textOf(1, 20_000)]);
const SECOND = bodyOf([textOf(1, 20_000), textOf(2, 700), textOf(3, 2_000)]);

describe('a conversation that goes on', () => {
  it('is bounded by what the provider counted of it, and the bytes that are new', () => {
    const costs = createCallCosts(() => BOOK);
    const alone = promptOf(ask(costs, 'a', SECOND));
    ask(costs, 'b', FIRST);
    settle(costs, 'b', 7_000);
    const known = promptOf(ask(costs, 'c', SECOND));
    expect(alone).toBe(SECOND.length + 1_536);
    const added = SECOND.length - FIRST.length;
    expect(known).toBeGreaterThanOrEqual(7_000 + added);
    // At either end up to a piece of 1,024 bytes is counted anew.
    expect(known).toBeLessThanOrEqual(7_000 + added + 2 * 1_024 + 1_536);
  });

  it('is not one of another run, and says nothing where the answer was cut or the prompt shortened', () => {
    const costs = createCallCosts(() => BOOK);
    const whole = SECOND.length + 1_536;
    ask(costs, 'a', FIRST, 'run-2');
    settle(costs, 'a', 7_000);
    expect(promptOf(ask(costs, 'b', SECOND))).toBe(whole);
    ask(costs, 'c', FIRST);
    expect(settle(costs, 'c', 7_000, { usageSource: 'partial', outcome: 'client_closed' })).toBe('partial');
    expect(promptOf(ask(costs, 'd', SECOND))).toBe(whole);
    for (const more of [
      { context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] } },
      { context_management: { edits: [{ type: 'clear_thinking_20251015' }] } },
      { system: [], tools: [{ name: 'read', defer_loading: true, input_schema: { type: 'object' } }] },
    ]) {
      ask(costs, 'e', bodyOf([textOf(1, 20_000)], more));
      settle(costs, 'e', 7_000);
      expect(promptOf(ask(costs, 'f', SECOND))).toBe(whole);
    }
    const escaped = bodyOf([textOf(1, 20_000)], { trunc: 'auto' })
      .toString()
      .replace('"trunc"', '"trunc\\u0061tion"');
    ask(costs, 'g', Buffer.from(escaped));
    settle(costs, 'g', 7_000);
    expect(promptOf(ask(costs, 'h', SECOND))).toBe(whole);
  });

  it('never lets one byte of the counted request stand for two of the new one', () => {
    const costs = createCallCosts(() => BOOK);
    const same = 'y'.repeat(8_192);
    ask(costs, 'a', bodyOf([same]));
    settle(costs, 'a', 1_100);
    const twice = bodyOf([same, same]);
    const added = twice.length - bodyOf([same]).length;
    expect(promptOf(ask(costs, 'b', twice))).toBeGreaterThanOrEqual(1_100 + added);
  });
});

describe('a call that cost more than its bound', () => {
  it('raises the bounds of the next ones, until a thousand have kept to theirs', () => {
    const costs = createCallCosts(() => BOOK);
    const body = Buffer.from(JSON.stringify({ model: MODEL, max_tokens: 10, messages: [] }));
    const first = ask(costs, 'a', body);
    // A thousand times what the bytes allow, as if the provider had added a prompt of its own.
    settle(costs, 'a', 1_600_000);
    const second = ask(costs, 'b', body);
    if (first.kind !== 'known' || second.kind !== 'known') throw new Error('both have a bound');
    const cost = settle(costs, 'b', 1_600_000);
    expect(first.amount < BigInt(cost)).toBe(true);
    expect(second.amount >= BigInt(cost)).toBe(true);
    for (let call = 0; call < 1_000; call += 1) {
      ask(costs, `c${call}`, body);
      settle(costs, `c${call}`, 10);
    }
    expect(ask(costs, 'last', body)).toMatchObject({ amount: first.amount });
  });
});

describe('what calls of a key usually cost', () => {
  it('is told of bounded calls and of others, once a hundred have been settled', () => {
    const costs = createCallCosts(() => BOOK);
    const body = bodyOf(['Hello.']);
    for (let call = 0; call < 100; call += 1) {
      expect(ask(costs, `c${call}`, body).usual).toBeUndefined();
      settle(costs, `c${call}`, 1_000);
    }
    // 1,000 tokens at 3 dollars a million and 10 at 15, and at most a sixteenth more.
    const { usual = 0n } = ask(costs, 'last', body);
    expect([usual >= 3_150_000_000n, usual < 3_350_000_000n]).toEqual([true, true]);
    expect(ask(costs, 'open', bodyOf(['Hello.'], { mcp_servers: [{}] }))).toEqual({
      kind: 'unknown',
      why: 'endless-tools',
      member: 'mcp_servers',
      usual,
    });
  });
});

describe('the settled cost', () => {
  it('is exact, or says why not', () => {
    const costs = createCallCosts(() => BOOK);
    expect(settle(costs, 'a', 1_000)).toBe(1_000n * 3_000_000n + 10n * 15_000_000n);
    expect(settle(costs, 'b', 0, { usage: null, usageSource: 'none' })).toBe('no-usage');
    expect(settle(costs, 'c', 1, { model: 'nobody-knows' })).toBe('unpriced');
    expect(settle(costs, 'd', 1, { usage: null, usageSource: 'none', flags: ['usage_later'] })).toBe('billed-later');
    expect(settle(costs, 'e', 0, { usage: null, usageSource: 'none', outcome: 'rejected' })).toBe(0n);
  });
});

describe('a conversation that the provider keeps', () => {
  it('is as long as it was at the end of the answer that it goes on, and else as the context window', () => {
    const costs = createCallCosts(() => BOOK);
    const openai = PROVIDERS.openai.websocket?.({
      method: 'GET',
      path: '/v1/responses',
      query: '',
      header: () => undefined,
    });
    if (openai == null) throw new Error('responses over a websocket');
    const begin: BilledBegin = {
      provider: 'openai',
      providerAlias: null,
      endpoint: 'responses.websocket',
      billed: true,
      requestedAtMs: NOON_MS,
      region: null,
      isBatch: false,
    };
    const bodyOfTurn = (previous: string | null): Buffer =>
      Buffer.from(
        JSON.stringify({
          type: 'response.create',
          model: 'gpt-5.4-mini',
          max_output_tokens: 9,
          input: 'Go on.',
          previous_response_id: previous,
        }),
      );
    const askTurn = (id: string, previous: string | null) =>
      costs.greatestOf(1, {
        ...begin,
        id,
        endpoint: openai.endpoint,
        modelRequested: 'gpt-5.4-mini',
        contentType: null,
        body: bodyOfTurn(previous),
      });
    askTurn('a', null);
    costs.settledOf(
      1,
      { ...begin, id: 'a' },
      {
        model: 'gpt-5.4-mini',
        modelRequested: 'gpt-5.4-mini',
        serviceTier: 'default',
        speed: null,
        inferenceGeo: null,
        outcome: 'ok',
        status: 200,
        errorType: null,
        usage: { classes: { input: 90, output: 900 }, reasoning: null, native: {} },
        usageSource: 'provider',
        flags: [],
        providerRequestId: 'resp_1',
      },
    );
    const { length } = bodyOfTurn('resp_1');
    expect(askTurn('b', 'resp_1')).toMatchObject({ promptTokens: 990 + length + 512 });
    expect(askTurn('c', 'resp_2')).toMatchObject({ promptTokens: 400_000 });
  });
});
