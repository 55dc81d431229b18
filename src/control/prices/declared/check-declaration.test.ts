import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createPriceBook } from '../../../pricing/price-book.ts';
import { findMappingProblem, listWarnings } from './check-declaration.ts';
import type { Mapping, Override } from './declaration.ts';

const EVER = { provider_alias: null, valid_from: null, valid_to: null, note: null } as const;

function mapping(model: string, billingModel: string, more: Partial<Mapping> = {}): Mapping {
  return { ...EVER, provider: 'openai', match: 'exact', model, billing_model: billingModel, ...more };
}

function override(rates: Override['rates']): Override {
  const terms = { service_tier: 'standard', over_tokens: null, up_to_tokens: null } as const;
  return { ...EVER, provider: 'openai', match: 'exact', model: 'm', ...terms, rates };
}

describe('mappings that lead back to themselves', () => {
  test('an id is not billed as itself, in any case', () => {
    expect(findMappingProblem(mapping('Mine', 'mine'), [])).toMatch(/would be billed as itself/);
  });

  test('a way back over others is found, over prefixes too', () => {
    const others = [mapping('b', 'c'), mapping('c-', 'd', { match: 'prefix' }), mapping('c', 'c-1')];
    expect(findMappingProblem(mapping('d', 'b'), others)).toBe(
      'b is itself mapped, and leads back to d: remove that mapping first',
    );
    expect(findMappingProblem(mapping('e', 'b'), others)).toBeNull();
  });

  test('there is no way back through another provider, another alias or another time', () => {
    const back = mapping('b', 'a');
    expect(findMappingProblem(mapping('a', 'b'), [back])).not.toBeNull();
    expect(findMappingProblem(mapping('a', 'b', { provider: 'together' }), [back])).toBeNull();
    expect(
      findMappingProblem(mapping('a', 'b', { provider_alias: 'eu' }), [{ ...back, provider_alias: 'us' }]),
    ).toBeNull();
    expect(
      findMappingProblem(mapping('a', 'b', { valid_from: '2026-11-01T00:00:00.000Z' }), [
        { ...back, valid_to: '2026-11-01T00:00:00.000Z' },
      ]),
    ).toBeNull();
  });

  test('every id under an alias may be billed as one of them', () => {
    const every = mapping('', 'gpt-5', { match: 'prefix', provider_alias: 'house' });
    expect(findMappingProblem(every, [])).toBeNull();
    expect(findMappingProblem(mapping('small', 'gpt-5-mini', { provider_alias: 'house' }), [every])).toBeNull();
  });

  test('the one that it replaces does not count', () => {
    expect(findMappingProblem(mapping('a', 'b'), [mapping('A', 'c'), mapping('c', 'a')])).toBeNull();
  });

  test('whatever is accepted one by one has no cycle', () => {
    const id = fc.constantFrom('a', 'b', 'c', 'd', 'e');
    fc.assert(
      fc.property(fc.array(fc.tuple(id, id), { maxLength: 12 }), (pairs) => {
        const accepted = new Map<string, string>();
        for (const [from, to] of pairs) {
          const stored = [...accepted].map(([model, target]) => mapping(model, target));
          if (findMappingProblem(mapping(from, to), stored) === null) accepted.set(from, to);
        }
        for (const start of accepted.keys()) {
          let steps = 0;
          for (let at = accepted.get(start); at !== undefined; at = accepted.get(at)) {
            steps += 1;
            expect(steps).toBeLessThanOrEqual(accepted.size);
          }
        }
      }),
    );
  });
});

describe('warnings', () => {
  const book = createPriceBook();

  test('a price by the token is told from a cheap one', () => {
    expect(listWarnings({ kind: 'override', ...override({ input: '0.003625', output: '0' }) }, book)).toEqual([]);
    expect(listWarnings({ kind: 'override', ...override({ cache_read: '0.0000000036' }) }, book)).toEqual([
      'cache_read 0.0000000036 looks like a price for one token; rates are for 1,000,000 of them. Did you mean 0.0036?',
    ]);
  });

  test('an id that is shortened before it is looked up is told', () => {
    const gemini = { ...override({ input: '1' }), provider: 'gemini', model: 'models/gemini-next' } as const;
    expect(listWarnings({ kind: 'override', ...gemini }, book)).toEqual([
      'calls of models/gemini-next are looked up as gemini-next; declare that instead',
    ]);
    const profile = 'arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-x';
    const bedrock = { ...override({ input: '1' }), provider: 'bedrock', model: profile } as const;
    expect(listWarnings({ kind: 'override', ...bedrock }, book)).toEqual([
      `calls of ${profile} are looked up as us.anthropic.claude-x; declare that instead`,
    ]);
  });

  test('a target without a price, a surcharge and a factor of nothing are said', () => {
    expect(listWarnings({ kind: 'mapping', ...mapping('a', 'gpt-5') }, book)).toEqual([]);
    expect(listWarnings({ kind: 'mapping', ...mapping('a', 'gpt-none') }, book)).toEqual([
      'openai gpt-none has no price itself; calls will stay unpriced',
    ]);
    const factor = (text: string) =>
      listWarnings({ kind: 'multiplier', ...EVER, provider: 'openai', factor: text }, book);
    expect(factor('0.85')).toEqual([]);
    expect(factor('1.1')).toEqual(['1.1 is a surcharge: 15 % off is 0.85']);
    expect(factor('0')).toEqual(['with the factor 0 every call at openai costs nothing']);
  });

  test('a chain of mappings is not followed, and that is said', () => {
    const mappings = ['a', 'b'].map((model, index) => ({
      ...({ id: index + 1, provider: 'openai', providerAlias: null, validFromMs: null, validToMs: null } as const),
      ...({ match: 'exact', model, billingModel: model === 'a' ? 'b' : 'gpt-5' } as const),
    }));
    const chained = createPriceBook({ operator: { prices: [], mappings, multipliers: [] } });
    expect(listWarnings({ kind: 'mapping', ...mapping('a', 'b') }, chained)).toEqual([
      'b is mapped too; only one mapping counts for a call, so it is billed as b',
    ]);
  });
});
