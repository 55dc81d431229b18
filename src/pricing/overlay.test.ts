import { describe, expect, it } from 'vitest';
import { PROVIDER_NAMES } from '../vocabulary/call-record.ts';
import { formatDecimal, multiplyDecimals, parseDecimal } from './decimal.ts';
import { createModelTest } from './model-match.ts';
import { OVERLAY_RATE_CARDS } from './overlay-rate-cards.ts';
import { createRows, matchSnapshots } from './overlay-row.ts';
import { DERIVED_RULES, MULTIPLIER_RULES, RENAME_RULES } from './overlay-rules.ts';

const RULES = [...MULTIPLIER_RULES, ...DERIVED_RULES, ...RENAME_RULES];
const ENTRIES = [...OVERLAY_RATE_CARDS, ...RULES];

describe('the overlay', () => {
  it('says of every price and rule where it is from and when it was checked', () => {
    for (const { name, provider, source, checkedOn } of ENTRIES) {
      expect(PROVIDER_NAMES).toContain(provider);
      expect([name, source.length > 10, /^20\d\d-\d\d-\d\d$/.test(checkedOn)]).toEqual([name, true, true]);
    }
  });

  it('gives every entry a name of its own: it is what a cost line shows', () => {
    for (const names of [OVERLAY_RATE_CARDS, RULES].map((entries) => entries.map((entry) => entry.name)))
      expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });

  it('is dated with instants that begin before they end', () => {
    for (const { name, from, to } of ENTRIES) {
      const fromMs = Date.parse(from ?? '2000-01-01T00:00:00Z');
      const toMs = Date.parse(to ?? '2100-01-01T00:00:00Z');
      expect([name, fromMs < toMs]).toEqual([name, true]);
    }
  });

  it('never has an alias of a name that is itself an alias at the time: one rule counts for a call', () => {
    const meets = (a: (typeof RENAME_RULES)[number], b: (typeof RENAME_RULES)[number]) =>
      Date.parse(a.from ?? '2000-01-01T00:00:00Z') < Date.parse(b.to ?? '2100-01-01T00:00:00Z') &&
      Date.parse(b.from ?? '2000-01-01T00:00:00Z') < Date.parse(a.to ?? '2100-01-01T00:00:00Z');
    for (const rule of RENAME_RULES) {
      const next = RENAME_RULES.find(
        (other) => other.provider === rule.provider && createModelTest(other.match)(rule.model) && meets(rule, other),
      );
      expect([rule.name, next?.name]).toEqual([rule.name, undefined]);
    }
  });

  it('has rates in a sensible relation: read from the cache ≤ input ≤ output', () => {
    for (const { name, rates } of OVERLAY_RATE_CARDS) {
      const [read, input, output] = [rates.cache_read, rates.input, rates.output].map((rate) =>
        rate === undefined ? null : parseDecimal(rate),
      );
      if (read != null && input != null) expect([name, read <= input]).toEqual([name, true]);
      if (input != null && output != null) expect([name, input <= output]).toEqual([name, true]);
    }
  });

  it('has writes to the cache of Claude at 1.25 times the input, for an hour at twice the input', () => {
    const cards = OVERLAY_RATE_CARDS.filter(({ name }) => name.includes('claude-'));
    expect(cards.length).toBeGreaterThan(50);
    for (const { name, rates } of cards)
      for (const [usageClass, factor] of [
        ['cache_creation_5m', '1.25'],
        ['cache_creation_1h', '2'],
      ] as const) {
        const [input, write] = [rates.input, rates[usageClass]];
        if (input === undefined || write === undefined) continue;
        const expected = formatDecimal(multiplyDecimals(parseDecimal(input), parseDecimal(factor)));
        expect([name, usageClass, write]).toEqual([name, usageClass, expected]);
      }
  });

  it('has factors of at most two decimals, so that their products are exact', () => {
    for (const { name, factor } of [...MULTIPLIER_RULES, ...DERIVED_RULES])
      expect([name, formatDecimal(parseDecimal(factor)), /^\d+(\.\d{1,2})?$/.test(factor)]).toEqual([
        name,
        factor,
        true,
      ]);
  });

  it('turns a rate card into one row for each class', () => {
    const card = OVERLAY_RATE_CARDS.find((entry) => entry.name === 'together/zai-org/GLM-5.2');
    const rows = card === undefined ? [] : createRows(card);
    expect(rows.map((row) => [row.key, formatDecimal(row.rate), row.per])).toEqual([
      ['overlay/together/zai-org/GLM-5.2/input', '1.4', 1_000_000],
      ['overlay/together/zai-org/GLM-5.2/cache_read', '0.26', 1_000_000],
      ['overlay/together/zai-org/GLM-5.2/output', '4.4', 1_000_000],
    ]);
  });

  it('matches a model and its dated snapshots only', () => {
    const isGpt5 = createModelTest(matchSnapshots('gpt-5.4'));
    const names = ['gpt-5.4', 'gpt-5.4-2026-03-05', 'gpt-5.4-mini', 'gpt-5x4', 'gpt-5.4-pro', 'ft:gpt-5.4'];
    expect(names.filter(isGpt5)).toEqual(['gpt-5.4', 'gpt-5.4-2026-03-05']);
  });
});
