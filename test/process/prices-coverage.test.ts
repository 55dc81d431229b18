/** `npm run prices:coverage`: the price book beside public catalogs. The catalogs are small ones, in each one's form. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Catalog } from '../../bench/prices/catalog.ts';
import { compareCoverage, type FindNote } from '../../bench/prices/compare-coverage.ts';
import { readCatalog } from '../../bench/prices/read-catalog.ts';
import { listShortfalls, parseThresholds } from '../../bench/prices/thresholds.ts';
import { createPriceBook } from '../../src/pricing/price-book.ts';

const DAY = '2026-11-28';
const AT = { book: createPriceBook(), atMs: Date.parse(`${DAY}T12:00:00Z`) };
const NO_NOTES: FindNote = () => null;

const read = (name: string, file: unknown): Catalog =>
  readCatalog(name, typeof file === 'string' ? file : JSON.stringify(file), DAY);
const csv = (name: string, ...lines: readonly string[]) =>
  read(`${name}.csv`, ['provider,model,input,output', ...lines].join('\n'));

describe('a catalog', () => {
  it("in litellm's form is read by the token, without the regions, the tiers of sizes and what is switched off", () => {
    const { entries } = read('litellm.json', {
      sample_spec: { mode: 'chat' },
      'together_ai/acme/sparrow-7b': {
        litellm_provider: 'together_ai',
        input_cost_per_token: 6e-7,
        output_cost_per_token: 1.2e-6,
        input_cost_per_token_batches: 3e-7,
        input_cost_per_token_above_200k_tokens: 1.2e-6,
      },
      'bedrock/eu-west-2/acme.sparrow-v1:0': { litellm_provider: 'bedrock', input_cost_per_token: 1e-6 },
      'together-ai-4.1b-8b': { litellm_provider: 'together_ai', input_cost_per_token: 2e-7 },
      'gpt-old': { litellm_provider: 'openai', input_cost_per_token: 1e-6, deprecation_date: '2026-11-28' },
      'whisper-9': { litellm_provider: 'openai', input_cost_per_second: 0.0001 },
      'claude-9': { litellm_provider: 'vertex_ai-anthropic_models', input_cost_per_token: 1e-6 },
    });
    expect(entries).toEqual([
      {
        provider: 'together',
        model: 'acme/sparrow-7b',
        rates: [
          { usageClass: 'input', usd: 0.6 },
          { usageClass: 'input', tier: 'batch', usd: 0.3 },
          { usageClass: 'output', usd: 1.2 },
          { usageClass: 'input', overTokens: 200_000, usd: 1.2 },
        ],
      },
      { provider: 'openai', model: 'whisper-9', rates: [{ usageClass: 'input_audio_ms', usd: 0.006 }] },
    ]);
  });

  it('of models.dev, Portkey, langfuse and genai-prices says the same in its own units', () => {
    const expected = [
      {
        provider: 'deepseek',
        model: 'deepseek-sparrow',
        rates: [
          { usageClass: 'input', usd: 0.25 },
          { usageClass: 'output', usd: 0.5 },
        ],
      },
    ];
    const dev = { deepseek: { models: { 'deepseek-sparrow': { cost: { input: 0.25, output: 0.5 } } } } };
    const cents = { request_token: { price: 0.000025 }, response_token: { price: 0.00005 } };
    const portkey = { default: {}, 'deepseek-sparrow': { pricing_config: { pay_as_you_go: cents } } };
    const tier = { isDefault: true, prices: { input: 2.5e-7, output: 5e-7 } };
    const langfuse = [{ modelName: 'deepseek-sparrow', matchPattern: '(?i)^x$', pricingTiers: [tier] }];
    const dated = [
      { prices: { input_mtok: 9, output_mtok: 9 } },
      { constraint: { start_date: '2026-10-01' }, prices: { input_mtok: 0.25, output_mtok: 0.5 } },
      { constraint: { start_date: '2027-01-01' }, prices: { input_mtok: 1, output_mtok: 1 } },
    ];
    const genai = [
      { id: 'deepseek', models: [{ id: 'sparrow', match: { equals: 'deepseek-sparrow' }, prices: dated }] },
    ];
    expect(read('api.json', dev).entries).toEqual(expected);
    expect(read('deepseek.json', portkey).entries).toEqual(expected);
    expect(read('langfuse.json', langfuse).entries).toEqual(expected);
    expect(read('data.json', genai).entries).toEqual(expected);
    expect(csv('own', 'deepseek,deepseek-sparrow,0.25,0.5').entries).toEqual(expected);
  });

  it("in langfuse's form may have one price for all tokens, as embeddings do", () => {
    const prices = { total: 2.5e-7 };
    const langfuse = [
      { modelName: 'text-embedding-9', matchPattern: 'x', pricingTiers: [{ isDefault: true, prices }] },
    ];
    expect(read('langfuse.json', langfuse).entries).toEqual([
      { provider: 'openai', model: 'text-embedding-9', rates: [{ usageClass: 'input', usd: 0.25 }] },
    ]);
  });

  it("has for OpenAI's cache the lifetime that OpenAI sells, and for Google's no write at all", () => {
    const table = 'provider,model,cache_creation_5m\nopenai,a,1\ngemini,b,1\nanthropic,c,1';
    expect(read('own.csv', table).entries.map(({ rates }) => rates)).toEqual([
      [{ usageClass: 'cache_creation_30m', usd: 1 }],
      [],
      [{ usageClass: 'cache_creation_5m', usd: 1 }],
    ]);
  });

  it.each([
    ['notes.txt', 'these are notes', 'notes.txt: neither JSON'],
    ['other.json', '{"colour":"blue"}', 'other.json: JSON, but no catalog that is known here'],
    ['prices.json', '{"a":{"pricing_config":{"pay_as_you_go":{}}}}', 'whose file name says the provider'],
    ['own.csv', 'provider,model,price\nopenai,a,1', 'own.csv: line 1: no class is named "price"'],
    ['own.csv', 'provider,model,input\nacme,a,1', 'own.csv: line 2: needs one of openai'],
    ['own.csv', 'provider,model,input\n', 'own.csv: has no model of the seven providers'],
  ])('that cannot be read is refused in a line: %s', (name, text, problem) => {
    expect(() => read(name, text)).toThrow(problem);
  });
});

describe('the comparison', () => {
  it('counts what is priced, of all models and of those that two catalogs price', () => {
    const coverage = compareCoverage(
      [csv('a', 'openai,gpt-4o,2.5,10', 'openai,gpt-sparrow,1,2'), csv('b', 'openai,gpt-sparrow,1,2')],
      AT,
      NO_NOTES,
    );
    expect(coverage.providers).toEqual([
      {
        provider: 'openai',
        any: { models: 2, priced: 1, explained: 0 },
        shared: { models: 1, priced: 0, explained: 0 },
      },
    ]);
    expect(coverage.unpriced).toEqual([
      { provider: 'openai', model: 'gpt-sparrow', catalogs: ['a.csv', 'b.csv'], reason: null },
    ]);
  });

  it('counts a model with a stated reason apart, and as covered', () => {
    const note: FindNote = (_provider, model) =>
      model === 'gpt-sparrow' ? { withoutPrice: 'billed by the feather', settled: null } : null;
    const coverage = compareCoverage(
      [csv('a', 'openai,gpt-sparrow,1,2'), csv('b', 'openai,gpt-sparrow,1,2')],
      AT,
      note,
    );
    expect(coverage.providers[0]?.shared).toEqual({ models: 1, priced: 0, explained: 1 });
    expect(listShortfalls(coverage, parseThresholds('98'))).toEqual([]);
  });

  it('disagrees with most catalogs only, and says which they are', () => {
    const [right, wrong] = ['openai,gpt-4o,2.5,10', 'openai,gpt-4o,5,15'];
    const differ = (...lines: readonly string[]) =>
      compareCoverage(
        lines.map((line, index) => csv(`c${index}`, line)),
        AT,
        NO_NOTES,
      ).disagreements;
    expect(differ(right, wrong)).toEqual([]);
    expect(differ(right, wrong, wrong)).toMatchObject([
      { model: 'gpt-4o', rate: 'input', book: 2.5, catalogs: { 'c0.csv': 2.5, 'c1.csv': 5, 'c2.csv': 5 } },
      { model: 'gpt-4o', rate: 'output', book: 10 },
    ]);
  });

  it('looks at caches, tiers and long prompts too', () => {
    const litellm = read('litellm.json', {
      'gpt-5.4': {
        litellm_provider: 'openai',
        input_cost_per_token: 2.5e-6,
        output_cost_per_token: 1.5e-5,
        cache_read_input_token_cost: 9e-7,
        output_cost_per_token_batches: 7.5e-6,
        input_cost_per_token_above_272k_tokens: 9e-6,
        output_cost_per_audio_token: 1e-6,
      },
    });
    const { disagreements, otherDisagreements, unknownRates } = compareCoverage([litellm], AT, NO_NOTES);
    expect(disagreements).toEqual([]);
    expect(otherDisagreements.map(({ rate, book }) => [rate, book])).toEqual([
      ['cache_read', 0.25],
      ['input>272000', 5],
    ]);
    expect(unknownRates).toEqual([{ provider: 'openai', model: 'gpt-5.4', rate: 'output_audio' }]);
  });
});

describe('the program', () => {
  const directory = mkdtempSync(join(tmpdir(), 'coverage-'));
  const file = (name: string, ...lines: readonly string[]) => {
    const path = join(directory, name);
    writeFileSync(path, ['provider,model,input,output', ...lines].join('\n'));
    return path;
  };
  const run = (...args: readonly string[]) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, ['bench/prices/run.ts', ...args], {
      encoding: 'utf8',
    });
    return { status, stdout, stderr };
  };
  const known = file('known.csv', 'openai,gpt-4o,2.5,10');
  const again = file('again.csv', 'openai,gpt-4o,2.5,10', 'openai,gpt-sparrow,1,2');
  const third = file('third.csv', 'openai,gpt-sparrow,1,2');

  it('prints a line for each provider, and ends well where no share is required', () => {
    const { status, stdout } = run(known, again, third, '--at', DAY);
    expect(status).toBe(0);
    expect(stdout).toMatch(/^openai\s+2\s+1\s+0\s+50\.0 %\s+2\s+1\s+0\s+50\.0 %\s+0\s+0$/m);
  });

  it('ends with 1 below the required share, and says so', () => {
    expect(run(known, again, third, '--at', DAY, '--require', 'openai=98')).toMatchObject({
      status: 1,
      stderr: 'openai: 50 % covered, wanted 98 %\n',
    });
    expect(run(known, again, third, '--at', DAY, '--require', 'openai=50').status).toBe(0);
  });

  it('ends with 1 at a disagreement without a reason, where a share is required', () => {
    const other = file('other.csv', 'openai,gpt-4o,5,15');
    expect(run(other, '--at', DAY, '--require', '0')).toMatchObject({
      status: 1,
      stderr: '2 disagreements without a reason\n',
    });
  });

  it('ends with 2 in a line that says what is wrong', () => {
    expect(run(known, '--require', 'acme=9')).toMatchObject({
      status: 2,
      stderr: '--require: no provider is named "acme"\n',
    });
    expect(run(known, '--require', '101')).toMatchObject({
      status: 2,
      stderr: '--require: "101" is no share from 0 to 100\n',
    });
    expect(run('absent.csv').stderr).toMatch(/ENOENT/);
    expect(run().status).toBe(2);
  });

  it('prints JSON', () => {
    const { stdout } = run(known, '--at', DAY, '--json');
    expect(JSON.parse(stdout)).toMatchObject({ providers: [{ provider: 'openai', any: { models: 1, priced: 1 } }] });
  });
});
