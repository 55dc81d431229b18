/** Parses a catalog in the form of genai-prices' `prices/new_data/v2/data.json`; prices are not judged. */
import { z } from 'zod';
import { CATALOG_PROVIDER_IDS, type CatalogData } from './catalog.ts';
import { countRules, parseMatch } from './parse-match.ts';

/** Ids are stored in JSON: the database rejects U+0000 and lone surrogates. */
const Id = z
  .string()
  .min(1)
  .max(512)
  .refine((text) => /^\P{Cc}*$/u.test(text) && text.isWellFormed(), 'has a character that no name has');
/** Bounds the comparison of every name with every model. */
const MAX_MODELS = 1_000;
const MAX_RULES = 1_500;
/** Bounds all regular expressions on one name together. */
const MAX_STEPS = 20_000_000;
/** A model has one price per class; unknown ones are left out. */
const MAX_PRICES = 100;
/** Dated prices of a model, and steps by prompt length. */
const MAX_CONDITIONS = 12;
const MAX_TIERS = 4;
/** Rows times cases of comparison; a published catalog has some ten thousand. */
const MAX_COMPARISONS = 2_000_000;
/** USD for a million tokens, a thousand calls or an hour; far above any price and below the column's limit. */
const MAX_RATE = 1_000_000;

const Match = z.unknown().transform((value, context) => {
  const reading = parseMatch(value);
  if (reading.isOk) return reading.match;
  context.addIssue(reading.problem);
  return z.NEVER;
});
const Rate = z.number().nonnegative().max(MAX_RATE);
const Tier = z.object({ start: z.number().int().min(0), price: Rate });
const Prices = z
  .unknown()
  .refine(hasFewKeys, `has more than ${MAX_PRICES} prices`)
  .pipe(z.record(z.string(), z.union([Rate, z.object({ base: Rate, tiers: z.array(Tier).max(MAX_TIERS) })])));
const Time = z.string().regex(/^\d{2}:\d{2}:\d{2}Z$/);
/** The published file omits `type`; the package's data have it in this order, which the price version hashes. */
const Constraint = z.union([
  z
    .strictObject({ type: z.literal('start_date').optional(), start_date: z.iso.date() })
    .transform(({ start_date }) => ({ start_date, type: 'start_date' as const })),
  z
    .strictObject({ type: z.literal('time_of_date').optional(), start_time: Time, end_time: Time })
    .transform(({ start_time, end_time }) => ({ start_time, end_time, type: 'time_of_date' as const })),
]);
const Model = z.object({
  id: Id,
  match: Match,
  prices: z.union([
    Prices,
    z
      .array(
        z.object({ constraint: Constraint.optional(), prices: Prices }).transform(({ constraint, prices }) => ({
          ...(constraint === undefined ? {} : { constraint }),
          prices,
        })),
      )
      .max(MAX_CONDITIONS),
  ]),
});
type Model = z.infer<typeof Model>;
/** Models are validated one by one up to the first fault: all faults of a hostile file would fill the memory. */
const Provider = z.object({ id: Id, models: z.array(z.unknown()).max(MAX_MODELS) });
const Catalog = z.array(Provider).max(500);

interface ReadProvider {
  readonly id: string;
  readonly models: Model[];
}

function hasFewKeys(value: unknown): boolean {
  return typeof value !== 'object' || value === null || Object.keys(value).length <= MAX_PRICES;
}

export type ParsedCatalog =
  | { readonly isOk: true; readonly data: CatalogData; readonly models: number }
  | { readonly isOk: false; readonly problem: string };

function countComparisons({ prices }: Model): number {
  const conditions = Array.isArray(prices) ? prices.map((condition) => condition.prices) : [prices];
  const rates = conditions.flatMap((condition) => Object.values(condition));
  const tiers = rates.flatMap((rate) => (typeof rate === 'number' ? [] : rate.tiers));
  const sizes = new Set(tiers.map(({ start }) => start)).size + 1;
  return (conditions.length + 1) ** 2 * sizes * (rates.length + tiers.length);
}

/** Valid forms that could still keep the gateway busy for minutes. */
function findExcess(providers: Iterable<ReadProvider>): string | null {
  let comparisons = 0;
  for (const { id, models } of providers) {
    comparisons += models.reduce((sum, model) => sum + countComparisons(model), 0);
    if (comparisons > MAX_COMPARISONS) return `${id} has more dated prices than can be looked through`;
    const counts = models.map(({ match }) => countRules(match));
    if (counts.reduce((sum, { rules }) => sum + rules, 0) > MAX_RULES)
      return `${id} has more than ${MAX_RULES} rules for names`;
    if (counts.reduce((sum, { steps }) => sum + steps, 0) > MAX_STEPS)
      return `${id} has more regular expressions than can be tried on every name`;
  }
  return null;
}

function describeIssue({ issues: [issue] }: z.ZodError, at: readonly PropertyKey[]): string {
  const path = [...at, ...(issue?.path ?? [])];
  if (issue === undefined || path.length === 0)
    return 'it is not a JSON array of providers, as genai-prices publishes it';
  return `${path.join('.')}: ${issue.message}`;
}

/** `name` and `checkedOn` stand in every row. Never throws. */
export function parseCatalog(text: string, name: string, checkedOn: string): ParsedCatalog {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { isOk: false, problem: 'it is not JSON' };
  }
  const parsed = Catalog.safeParse(value);
  if (!parsed.success) return { isOk: false, problem: describeIssue(parsed.error, []) };
  const known: readonly string[] = CATALOG_PROVIDER_IDS;
  const providers = new Map<string, ReadProvider>();
  for (const [index, { id, models: entries }] of parsed.data.entries()) {
    if (!known.includes(id)) continue;
    const models: Model[] = [];
    for (const [place, entry] of entries.entries()) {
      const model = Model.safeParse(entry);
      if (!model.success) return { isOk: false, problem: describeIssue(model.error, [index, 'models', place]) };
      models.push(model.data);
    }
    providers.set(id, { id, models });
  }
  const excess = findExcess(providers.values());
  if (excess !== null) return { isOk: false, problem: excess };
  const models = [...providers.values()].reduce((sum, provider) => sum + provider.models.length, 0);
  if (models === 0) return { isOk: false, problem: 'it has no model of any provider that the gateway knows' };
  return { isOk: true, models, data: { name, checkedOn, findProvider: (id) => providers.get(id) } };
}
