/** Checks a declaration beside the others: circular mappings are refused, probable slips are warnings. */

import { readBillingModel } from '../../../pricing/billing-terms.ts';
import { type Decimal, formatDecimal, parseDecimal } from '../../../pricing/decimal.ts';
import type { PriceBook } from '../../../pricing/price-book.ts';
import { COUNTED_CLASSES, USAGE_CLASSES } from '../../../vocabulary/token-usage.ts';
import type { Declaration, Mapping, Override } from './declaration.ts';

/** No model costs less per million tokens; such a price is probably per token. */
const PER_TOKEN_BELOW = parseDecimal('0.0005');
const MILLION = 1_000_000n;
const ONE = parseDecimal('1');

/** Shown to operators who may have mixed up units; the help repeats it. */
export const UNITS =
  'US dollars for 1,000,000 tokens or characters, for a minute of sound (input_audio_ms), for 1,000 of everything else';

type MappingScope = Pick<Mapping, 'provider' | 'provider_alias' | 'valid_from' | 'valid_to'>;

function isBefore(a: string | null, b: string | null): boolean {
  return a !== null && b !== null && a <= b;
}

function canMeet(a: MappingScope, b: MappingScope): boolean {
  const isSameAlias = a.provider_alias === null || b.provider_alias === null || a.provider_alias === b.provider_alias;
  return (
    a.provider === b.provider &&
    isSameAlias &&
    !isBefore(a.valid_to, b.valid_from) &&
    !isBefore(b.valid_to, a.valid_from)
  );
}

function isMatch({ match, model }: Pick<Mapping, 'match' | 'model'>, id: string): boolean {
  const wanted = model.toLowerCase();
  return match === 'exact' ? id.toLowerCase() === wanted : id.toLowerCase().startsWith(wanted);
}

function isReplaced(a: Mapping, b: Mapping): boolean {
  const keyOf = ({ provider, provider_alias, match, model, valid_from }: Mapping) =>
    JSON.stringify([provider, provider_alias, match, model.toLowerCase(), valid_from]);
  return keyOf(a) === keyOf(b);
}

/** Exact mappings are looked up, since thousands may form a chain. */
function createFinder(mappings: readonly Mapping[]): (id: string) => readonly Mapping[] {
  const exact = Map.groupBy(
    mappings.filter(({ match }) => match === 'exact'),
    ({ model }) => model.toLowerCase(),
  );
  const prefixes = mappings
    .filter(({ match }) => match === 'prefix')
    .map((mapping) => ({ mapping, prefix: mapping.model.toLowerCase() }));
  return (id) => {
    const wanted = id.toLowerCase();
    const begun = prefixes.filter(({ prefix }) => wanted.startsWith(prefix)).map(({ mapping }) => mapping);
    return [...begun, ...(exact.get(wanted) ?? [])];
  };
}

/** Why the mapping is invalid, or null. `stored` are the existing ones. */
export function findMappingProblem(mapping: Mapping, stored: readonly Mapping[]): string | null {
  const findFor = createFinder(stored.filter((other) => !isReplaced(mapping, other) && canMeet(mapping, other)));
  const target = mapping.billing_model;
  if (mapping.match === 'exact' && isMatch(mapping, target))
    return `${mapping.model} would be billed as itself; nothing is to be declared for that`;
  const seen = new Set<Mapping>();
  const open = [target];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    // An id that the new mapping also matches is billed as the same model, so there is no loop.
    if (id !== target && isMatch(mapping, id))
      return `${target} is itself mapped, and leads back to ${id}: remove that mapping first`;
    for (const other of findFor(id))
      if (!seen.has(other)) {
        seen.add(other);
        open.push(other.billing_model);
      }
  }
  return null;
}

function warnOfRates({ rates }: Override): string[] {
  return USAGE_CLASSES.flatMap((unit) => {
    const text = rates[unit];
    if (text === undefined || COUNTED_CLASSES.includes(unit)) return [];
    const rate: Decimal = parseDecimal(text);
    if (rate === 0n || rate >= PER_TOKEN_BELOW) return [];
    const meant = formatDecimal(rate * MILLION);
    return [
      `${unit} ${text} looks like a price for one token; rates are for 1,000,000 of them. Did you mean ${meant}?`,
    ];
  });
}

/** Some ids are shortened before look-up, which finds nothing under the long one. */
function warnOfId({ provider, model }: Pick<Override, 'provider' | 'model'>): string[] {
  const id = model === '' ? null : readBillingModel({ provider, model, modelRequested: model });
  return id === null || id === model ? [] : [`calls of ${model} are looked up as ${id}; declare that instead`];
}

function warnOfMapping(mapping: Mapping, book: PriceBook): string[] {
  const { provider, provider_alias: providerAlias, billing_model: target } = mapping;
  const call = { provider, providerAlias, atMs: Date.parse(mapping.valid_from ?? '') || Date.now() };
  const found = book.findPrices(call, target);
  const isChained = found.billingModel.toLowerCase() !== target.toLowerCase();
  return [
    ...(isChained ? [`${target} is mapped too; only one mapping counts for a call, so it is billed as ${target}`] : []),
    ...(found.prices.rows.length === 0 ? [`${provider} ${target} has no price itself; calls will stay unpriced`] : []),
  ];
}

/** Probable mistakes. `book` already holds the declaration. */
export function listWarnings(declaration: Declaration, book: PriceBook): readonly string[] {
  switch (declaration.kind) {
    case 'override':
      return [...warnOfId(declaration), ...warnOfRates(declaration)];
    case 'mapping':
      return [...warnOfId(declaration), ...warnOfMapping(declaration, book)];
    case 'multiplier': {
      const factor = parseDecimal(declaration.factor);
      if (factor === 0n) return [`with the factor 0 every call at ${declaration.provider} costs nothing`];
      if (factor <= ONE) return [];
      return [`${declaration.factor} is a surcharge: 15 % off is 0.85`];
    }
  }
}
