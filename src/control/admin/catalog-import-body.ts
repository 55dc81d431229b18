/** What an import of a price catalog changes, as the API describes it; long lists are cut and counted. */
import { z } from '@hono/zod-openapi';
import { formatDecimal } from '../../pricing/decimal.ts';
import type { NamedModel, RateChange } from '../prices/declared/compare-catalogs.ts';
import type { ImportOutcome } from '../prices/declared/import-catalog.ts';
import { GATES } from '../prices/declared/judge-catalog.ts';
import { Money, Time } from './schemas.ts';

const MAX_LISTED = 200;

const Model = z.object({ provider: z.string(), model: z.string() });
export const CatalogImportBody = z
  .object({
    outcome: z
      .enum(['activated', 'unchanged', 'would_activate', 'would_refuse'])
      .describe('`unchanged`: it is in use already; the last two of a dry run'),
    added_models: z.object({ count: z.number().int(), first: z.array(Model).max(MAX_LISTED) }),
    lost_models: z
      .object({ count: z.number().int(), first: z.array(Model).max(MAX_LISTED) })
      .describe('Not found any more, or without a price for the input or the output that had one'),
    changed_rates: z.object({
      count: z.number().int(),
      first: z
        .array(
          Model.extend({
            class: z.string().describe('Usage class'),
            before: Money.nullable().describe('Null: there was no price'),
            after: Money.nullable().describe('Null: there would be no price'),
            per: z.number().int().describe('What the two are for: 1000000 tokens, 1000 searches, 3600000 ms'),
            from: Time.nullable().describe('When the change begins; null: it is as old as the prices'),
            over_tokens: z.number().int().nullable().describe('Only for prompts of more than so many tokens'),
          }),
        )
        .max(MAX_LISTED),
    }),
    refusals: z
      .object({
        count: z.number().int(),
        first: z
          .array(
            z.object({ gate: z.enum(GATES), provider: z.string(), model: z.string().nullable(), text: z.string() }),
          )
          .max(MAX_LISTED),
      })
      .describe('What looks wrong, with the values before and after'),
    price_version: z.string().describe('Of the price book in use now'),
  })
  .openapi('CatalogImport');
export type CatalogImport = z.infer<typeof CatalogImportBody>;

const NOTHING: CatalogImport['added_models'] = { count: 0, first: [] };

function formatModels(models: readonly NamedModel[]): CatalogImport['added_models'] {
  return {
    count: models.length,
    first: models.slice(0, MAX_LISTED).map(({ provider, model }) => ({ provider, model })),
  };
}

function formatRateChange(change: RateChange): CatalogImport['changed_rates']['first'][number] {
  const { provider, model, usageClass, before, after, per, fromMs, overTokens } = change;
  return {
    provider,
    model,
    class: usageClass,
    before: before === null ? null : formatDecimal(before),
    after: after === null ? null : formatDecimal(after),
    per,
    from: fromMs === null ? null : new Date(fromMs).toISOString(),
    over_tokens: overTokens,
  };
}

export function formatCatalogImport(
  outcome: Exclude<ImportOutcome, { readonly kind: 'unreadable' | 'outdated' }>,
  isDryRun: boolean,
  priceVersion: string,
): CatalogImport {
  if (outcome.kind === 'unchanged')
    return {
      outcome: 'unchanged',
      added_models: NOTHING,
      lost_models: NOTHING,
      changed_rates: { count: 0, first: [] },
      refusals: { count: 0, first: [] },
      price_version: priceVersion,
    };
  const { changes, refusals } = outcome;
  return {
    outcome: isDryRun ? (outcome.kind === 'activated' ? 'would_activate' : 'would_refuse') : 'activated',
    added_models: formatModels(changes.added),
    lost_models: formatModels(changes.lost),
    changed_rates: { count: changes.rates.length, first: changes.rates.slice(0, MAX_LISTED).map(formatRateChange) },
    refusals: { count: refusals.length, first: refusals.slice(0, MAX_LISTED).map((refusal) => ({ ...refusal })) },
    price_version: priceVersion,
  };
}
