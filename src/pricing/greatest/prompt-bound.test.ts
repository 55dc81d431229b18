/** No prompt has more tokens than its bound, whatever is written in it and however its conversation goes on. */
import fc from 'fast-check';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { expect, it } from 'vitest';
import { PROVIDERS } from '../../providers/registry.ts';
import { createPriceBook } from '../price-book.ts';
import type { BilledBegin } from '../to-billable-call.ts';
import { createCallCosts } from './call-costs.ts';

const BOOK = createPriceBook();
const NOON_MS = Date.UTC(2026, 10, 28, 12);
const MODEL = 'gpt-4o';
const ENDPOINT = PROVIDERS.openai.endpoint({
  method: 'POST',
  path: '/v1/chat/completions',
  query: '',
  header: () => undefined,
});
/** As OpenAI frames a message; see the estimates. */
const TOKENS_PER_MESSAGE = 4;
const WINDOW = 128_000;

const text = fc.oneof(
  fc.lorem({ maxCount: 300 }),
  fc.string({ maxLength: 400 }),
  fc.string({ unit: 'grapheme', maxLength: 400 }),
  fc.string({
    unit: fc.constantFrom('漢', '字', 'か', '한', 'ش', 'й', '🙂', '𓀀', '\u0000', '\n', '\t', ' ', '"', '\\'),
    maxLength: 400,
  }),
  fc.base64String({ maxLength: 900 }),
  fc.json({ maxDepth: 4 }),
  fc.constantFrom(' '.repeat(900), 'x'.repeat(900), '0123456789'.repeat(90), '\u00ad'.repeat(300)),
);
const turn = fc.record({ said: text, answered: text, edits: fc.boolean() });
const tool = fc.record({ name: fc.constantFrom('read', 'write', 'grep'), description: text });

it('holds for random conversations, alone and by what was counted of them before', () => {
  fc.assert(
    fc.property(fc.array(tool, { maxLength: 12 }), fc.array(turn, { minLength: 1, maxLength: 6 }), (tools, turns) => {
      const costs = createCallCosts(() => BOOK);
      let messages: { role: string; content: string }[] = [];
      for (const [index, { said, answered, edits }] of turns.entries()) {
        // Some clients change what they sent before.
        if (edits) messages = messages.map((message, at) => (at === 0 ? { ...message, content: said } : message));
        messages = [...messages, { role: 'user', content: said }];
        const functions = tools.map((one) => ({ type: 'function', function: one }));
        const body = Buffer.from(JSON.stringify({ model: MODEL, messages, max_tokens: 1, tools: functions }));
        const counted =
          messages.reduce((sum, { content }) => sum + countTokens(content) + TOKENS_PER_MESSAGE, 3) +
          tools.reduce((sum, one) => sum + countTokens(JSON.stringify(one)), 0);
        const begin: BilledBegin = {
          provider: 'openai',
          providerAlias: null,
          endpoint: 'chat.completions',
          billed: true,
          requestedAtMs: NOON_MS,
          region: null,
          isBatch: false,
        };
        const id = String(index);
        const greatest = costs.greatestOf(1, {
          ...begin,
          id,
          conversations: 'k',
          endpoint: ENDPOINT,
          modelRequested: MODEL,
          contentType: 'application/json',
          body,
        });
        expect(greatest.kind).toBe('known');
        if (greatest.kind === 'known') expect(greatest.promptTokens).toBeGreaterThanOrEqual(Math.min(counted, WINDOW));
        costs.settledOf(
          1,
          { ...begin, id },
          {
            model: MODEL,
            modelRequested: MODEL,
            serviceTier: 'default',
            speed: null,
            inferenceGeo: null,
            outcome: 'ok',
            status: 200,
            errorType: null,
            usage: { classes: { input: counted, output: 1 }, reasoning: null, native: {} },
            usageSource: 'provider',
            flags: [],
          },
        );
        messages = [...messages, { role: 'assistant', content: answered }];
      }
    }),
    { numRuns: 150 },
  );
});
