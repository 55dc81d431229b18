/** Formats the API's answers about catalogs. Pure. */
import { z } from 'zod';
import { formatPer, formatWhen } from '../../pricing/format-rate.ts';
import { terminalText } from '../terminal-text.ts';

const Catalog = z.object({
  origin: z.string(),
  name: z.string(),
  checked_on: z.string(),
  age_days: z.number(),
  models: z.number(),
});

export const FeedLook = z.object({
  checked_at: z.string().nullable(),
  result: z.string().nullable(),
  detail: z.string().nullable(),
});
export type FeedLook = z.infer<typeof FeedLook>;

export const PriceStatus = z.object({
  price_version: z.string(),
  catalog: Catalog,
  bundled: Catalog,
  overlay: z.object({ rows: z.number(), checked_on: z.string() }),
  declarations: z.object({ overrides: z.number(), mappings: z.number(), multipliers: z.number() }),
  unpriced: z.object({ calls: z.number(), models: z.number() }),
  feed: FeedLook.extend({ setting: z.string() }),
  warnings: z.array(z.string()),
});
export type PriceStatus = z.infer<typeof PriceStatus>;

const Models = z.object({
  count: z.number(),
  first: z.array(z.object({ provider: z.string(), model: z.string() })),
});

export const CatalogImport = z.object({
  outcome: z.enum(['activated', 'unchanged', 'would_activate', 'would_refuse']),
  added_models: Models,
  lost_models: Models,
  changed_rates: z.object({
    count: z.number(),
    first: z.array(
      z.object({
        provider: z.string(),
        model: z.string(),
        class: z.string(),
        before: z.string().nullable(),
        after: z.string().nullable(),
        per: z.number(),
        from: z.string().nullable(),
        over_tokens: z.number().nullable(),
      }),
    ),
  }),
  refusals: z.object({ count: z.number(), first: z.array(z.object({ text: z.string() })) }),
  price_version: z.string(),
});
export type CatalogImport = z.infer<typeof CatalogImport>;

const MAX_LINES = 20;

const ORIGINS: Readonly<Record<string, string>> = {
  bundled: 'comes with the gateway',
  file: 'imported',
  feed: 'from the price feed',
};

function describeCatalog({ origin, name, checked_on, age_days, models }: z.infer<typeof Catalog>): string {
  const age = age_days === 1 ? '1 day' : `${age_days} days`;
  return `${terminalText(name)} (${ORIGINS[origin] ?? origin}), ${models} models, of ${checked_on}, ${age} old`;
}

function plural(count: number, one: string): string {
  return `${count} ${one}${count === 1 ? '' : 's'}`;
}

function describeFeed({ setting, checked_at, result }: PriceStatus['feed']): string {
  if (setting === 'off') return 'off';
  const words = checked_at === null ? 'not looked at yet' : `${result} at ${checked_at}`;
  return `${terminalText(setting)}, ${words}`;
}

export function* formatPriceStatus(status: PriceStatus): Generator<string> {
  const { overrides, mappings, multipliers } = status.declarations;
  yield `catalog        ${describeCatalog(status.catalog)}`;
  if (status.catalog.origin !== 'bundled') yield `bundled        ${describeCatalog(status.bundled)}`;
  yield `overlay        ${plural(status.overlay.rows, 'row')}, of ${status.overlay.checked_on}`;
  yield `declared       ${plural(overrides, 'price')}, ${plural(mappings, 'mapping')}, ${plural(multipliers, 'discount')}`;
  yield `price version  ${status.price_version}`;
  yield `feed           ${describeFeed(status.feed)}`;
  for (const line of status.feed.detail?.split('\n') ?? []) yield `               ${terminalText(line)}`;
  yield `unpriced       ${plural(status.unpriced.calls, 'call')} of ${plural(status.unpriced.models, 'model')} in 30 days`;
  for (const warning of status.warnings) yield `! ${terminalText(warning)}`;
}

function* formatList(title: string, count: number, lines: readonly string[]): Generator<string> {
  if (count === 0) return;
  yield `${title}: ${count}`;
  for (const line of lines.slice(0, MAX_LINES)) yield `  ${terminalText(line)}`;
  const more = count - Math.min(lines.length, MAX_LINES);
  if (more > 0) yield `  and ${more} more`;
}

function formatRateChange(change: CatalogImport['changed_rates']['first'][number]): string {
  const { provider, model, before, after, per, from, over_tokens: overTokens } = change;
  const [old, now] = [before, after].map((rate) => (rate === null ? 'no price' : `$${rate}`));
  const when = formatWhen({ fromMs: from === null ? null : Date.parse(from), overTokens });
  return `${provider} ${model}: ${change.class}${when} ${old} -> ${now} ${formatPer(per)}`;
}

export function* formatImport(result: CatalogImport): Generator<string> {
  if (result.outcome === 'unchanged') {
    yield 'This file is in use already; no price in it differs.';
    return;
  }
  const { added_models: added, lost_models: lost, changed_rates: rates, refusals } = result;
  const name = ({ provider, model }: { readonly provider: string; readonly model: string }) => `${provider} ${model}`;
  if (added.count + lost.count + rates.count === 0) yield 'No model and no rate differs from the prices in use.';
  yield* formatList('new models', added.count, added.first.map(name));
  yield* formatList('models without a price', lost.count, lost.first.map(name));
  yield* formatList('changed rates', rates.count, rates.first.map(formatRateChange));
  yield* formatList(
    'looks wrong',
    refusals.count,
    refusals.first.map(({ text }) => text),
  );
}

export function* formatFeedLook({ result, detail }: FeedLook): Generator<string> {
  if (result === 'activated') yield 'Newer prices came and price every call from now on.';
  if (result === 'unchanged') yield 'The feed has what is in use already.';
  for (const line of detail?.split('\n') ?? []) yield terminalText(line);
}
