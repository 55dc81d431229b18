/** The commands of docs/pricing.md, run as they stand there against a whole gateway, and what they print. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ScriptedProvider, startScriptedProvider } from '../support/fake-provider.ts';
import { buildAnswer } from '../support/scripted-answer.ts';
import { type CommandRunner, compareOutput, createCommandRunner, readCommands } from './documented-commands.ts';
import { asRecord, startGateway, type TestGateway, waitUntil } from './start-gateway.ts';

const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'pricing.md'), 'utf8');
const commands = readCommands(page);

/** As the page says: a model that no price list knows, and an id that only its owner knows the model of. */
const CALLS = [
  {
    provider: 'together',
    path: '/v1/chat/completions',
    body: { model: 'acme/sparrow-7b', messages: [{ role: 'user', content: 'hello' }] },
    answer: {
      id: 'a',
      object: 'chat.completion',
      created: 1_795_000_000,
      model: 'acme/sparrow-7b',
      choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 12_000, completion_tokens: 800, total_tokens: 12_800 },
    },
    times: 2,
  },
  {
    provider: 'bedrock',
    path: `/model/${encodeURIComponent('arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/a1b2c3')}/converse`,
    body: { messages: [{ role: 'user', content: [{ text: 'hello' }] }] },
    answer: {
      output: { message: { role: 'assistant', content: [{ text: 'hi' }] } },
      stopReason: 'end_turn',
      metrics: { latencyMs: 1 },
      usage: { inputTokens: 30_000, outputTokens: 2_000, totalTokens: 32_000 },
    },
    times: 1,
  },
] as const;

let provider: ScriptedProvider;
let gateway: TestGateway;
let runner: CommandRunner;

beforeAll(async () => {
  provider = await startScriptedProvider({
    answer: (request) => {
      const call = CALLS.find(({ path }) => request.target.endsWith(path));
      return buildAnswer({ headers: [['content-type', 'application/json']], body: JSON.stringify(call?.answer ?? {}) });
    },
  });
  gateway = await startGateway({
    env: Object.fromEntries(CALLS.map((call) => [`TOLLGATE_UPSTREAM_${call.provider.toUpperCase()}`, provider.origin])),
  });
  runner = createCommandRunner(gateway.dataDir);
  for (const { provider: name, path, body, times } of CALLS)
    for (let count = 0; count < times; count += 1) {
      const answer = await fetch(`${gateway.base}${path}`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          authorization: 'Bearer placeholder',
          'x-gateway-key': gateway.key,
          'x-gateway-provider': name,
        },
        body: JSON.stringify(body),
      });
      expect(await answer.json()).toMatchObject({ usage: {} });
    }
  await waitUntil('the calls are in the log', async () => {
    const { data } = asRecord(await gateway.api('/api/v1/logs'));
    return Array.isArray(data) && data.length === 3 ? true : undefined;
  });
});
afterAll(async () => {
  await gateway?.stop();
  await provider?.close();
  runner?.remove();
});

describe('the commands of docs/pricing.md', () => {
  test('there are some to run', () => {
    expect(new Set(commands.map(({ section }) => section))).toEqual(
      new Set([
        'What has no price',
        'Your own prices',
        'Ids that say nothing',
        'Negotiated discounts',
        'Pricing calls again',
        'Keeping prices fresh',
      ]),
    );
  });

  // Each goes on where the one before has ended.
  test.each(commands)('$section: $script', async ({ script, output }) => {
    const { documented, printed } = compareOutput(output, await runner.run(script));
    expect(printed).toBe(documented);
  });
});
