/** The price book beside public catalogs: what it has a price for, and where it says another one than most of them. */

import type { NotedModel } from '../../src/pricing/noted-models.ts';
import { PROVIDER_NAMES, type ProviderName } from '../../src/vocabulary/call-record.ts';
import { type AskedAt, askRate, isInBook } from './ask-price-book.ts';
import type { Catalog, CatalogRate } from './catalog.ts';

/** Catalogs round: a third of a cent of difference in a dollar is none. */
const TOLERANCE = 0.003;
const MAIN_CLASSES = ['input', 'output'] as const;

export interface Disagreement {
  readonly provider: ProviderName;
  readonly model: string;
  /** E.g. `input`, `output>200000`, `input batch`. */
  readonly rate: string;
  readonly book: number;
  readonly catalogs: Readonly<Record<string, number>>;
  readonly reason: string | null;
}

export interface Unpriced {
  readonly provider: ProviderName;
  readonly model: string;
  readonly catalogs: readonly string[];
  readonly reason: string | null;
}

export interface Count {
  readonly models: number;
  readonly priced: number;
  /** Without a price, for a stated reason. */
  readonly explained: number;
}

export interface ProviderCoverage {
  readonly provider: ProviderName;
  readonly any: Count;
  /** Models that two catalogs or more have a price for. */
  readonly shared: Count;
}

export interface Coverage {
  readonly catalogs: readonly { readonly name: string; readonly models: number }[];
  readonly providers: readonly ProviderCoverage[];
  readonly unpriced: readonly Unpriced[];
  /** About the prices of input and output. */
  readonly disagreements: readonly Disagreement[];
  /** About all other rates: caches, sound, long prompts, tiers. */
  readonly otherDisagreements: readonly Disagreement[];
  /** Rates that a catalog has and the book does not know, of models that it has a price for. */
  readonly unknownRates: readonly { readonly provider: ProviderName; readonly model: string; readonly rate: string }[];
}

/** Reasons as the price data state them; null where they say nothing of the model. */
export type FindNote = (provider: ProviderName, model: string) => NotedModel | null;

interface Listed {
  readonly provider: ProviderName;
  readonly model: string;
  readonly rates: Map<string, readonly CatalogRate[]>;
}

function isSame(a: number, b: number): boolean {
  return Math.abs(a - b) <= TOLERANCE * Math.max(a, b);
}

function nameRate({ usageClass, overTokens, tier }: CatalogRate): string {
  return `${usageClass}${overTokens === undefined ? '' : `>${overTokens}`}${tier === undefined ? '' : ` ${tier}`}`;
}

function isFree(rates: readonly CatalogRate[]): boolean {
  return rates.every(({ usd }) => usd === 0);
}

function listModels(catalogs: readonly Catalog[]): readonly Listed[] {
  const models = new Map<string, Listed>();
  for (const { name, entries } of catalogs)
    for (const { provider, model, rates } of entries) {
      const key = `${provider}\n${model.toLowerCase()}`;
      const listed = models.get(key) ?? { provider, model, rates: new Map() };
      listed.rates.set(name, rates);
      models.set(key, listed);
    }
  return [...models.values()];
}

/** The standard rates that a plain call is billed by: all those of input and output that some catalog has. */
function listPlainRates({ rates }: Listed): readonly CatalogRate[] {
  const all = [...rates.values()].flat().filter((rate) => rate.overTokens === undefined && rate.tier === undefined);
  const plain = all.filter(({ usageClass, usd }) => MAIN_CLASSES.some((main) => main === usageClass) && usd > 0);
  const wanted = plain.length > 0 ? plain : all.filter(({ usd }) => usd > 0);
  return wanted.filter((rate, index) => wanted.findIndex(({ usageClass }) => usageClass === rate.usageClass) === index);
}

/** Most catalogs' figure, or several where none has more votes than another. */
function findMajority(figures: readonly number[]): readonly number[] {
  const votes = figures.map((figure) => figures.filter((other) => isSame(figure, other)).length);
  const most = Math.max(...votes);
  return figures.filter((_, index) => votes[index] === most);
}

function compareRates(listed: Listed, at: AskedAt, reason: string | null) {
  const disagreements: Disagreement[] = [];
  const unknown: string[] = [];
  const names = new Map([...listed.rates.values()].flat().map((rate) => [nameRate(rate), rate]));
  for (const [name, rate] of names) {
    const figures = [...listed.rates].flatMap(([catalog, rates]) => {
      const found = rates.find((candidate) => nameRate(candidate) === name);
      // Zero stands for "none" as often as for "free".
      return found === undefined || found.usd === 0 ? [] : [[catalog, found.usd] as const];
    });
    if (figures.length === 0) continue;
    const book = askRate(at, listed.provider, listed.model, rate);
    if (book === null) unknown.push(name);
    else if (!findMajority(figures.map(([, usd]) => usd)).some((usd) => isSame(usd, book)))
      disagreements.push({
        provider: listed.provider,
        model: listed.model,
        rate: name,
        book,
        catalogs: Object.fromEntries(figures),
        reason,
      });
  }
  return { disagreements, unknown };
}

function isMain({ rate }: Disagreement): boolean {
  return MAIN_CLASSES.some((main) => main === rate);
}

export function compareCoverage(catalogs: readonly Catalog[], at: AskedAt, findNote: FindNote): Coverage {
  const models = listModels(catalogs);
  const judged = models.map((listed) => {
    const { provider, model, rates } = listed;
    const note = findNote(provider, model);
    const plain = listPlainRates(listed);
    const isPriced =
      plain.length > 0 && plain.every((rate) => askRate(at, provider, model, { usageClass: rate.usageClass }) !== null);
    // Free by every catalog, or priced there in what we do not compare: the book has to know something of it.
    const isKnown = plain.length === 0 && isInBook(at, provider, model);
    const pricedBy = [...rates.values()].filter((list) => !isFree(list)).length;
    return { listed, note, isPriced: isPriced || isKnown, isShared: pricedBy >= 2 };
  });
  const count = (list: typeof judged): Count => ({
    models: list.length,
    priced: list.filter(({ isPriced }) => isPriced).length,
    explained: list.filter(({ isPriced, note }) => !isPriced && note?.withoutPrice != null).length,
  });
  const compared = judged
    .filter(({ isPriced }) => isPriced)
    .map(({ listed, note }) => ({ listed, ...compareRates(listed, at, note?.settled ?? null) }));
  const disagreements = compared.flatMap((entry) => entry.disagreements);
  return {
    catalogs: catalogs.map(({ name, entries }) => ({ name, models: entries.length })),
    providers: PROVIDER_NAMES.map((provider) => {
      const own = judged.filter(({ listed }) => listed.provider === provider);
      return { provider, any: count(own), shared: count(own.filter(({ isShared }) => isShared)) };
    }).filter(({ any }) => any.models > 0),
    unpriced: judged
      .filter(({ isPriced }) => !isPriced)
      .map(({ listed: { provider, model, rates }, note }) => ({
        provider,
        model,
        catalogs: [...rates.keys()],
        reason: note?.withoutPrice ?? null,
      })),
    disagreements: disagreements.filter(isMain),
    otherDisagreements: disagreements.filter((entry) => !isMain(entry)),
    unknownRates: compared.flatMap(({ listed: { provider, model }, unknown }) =>
      unknown.map((rate) => ({ provider, model, rate })),
    ),
  };
}
