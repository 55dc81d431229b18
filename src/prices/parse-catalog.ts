/**
 * A price catalogue from a file, in the form that `@pydantic/genai-prices` publishes (`prices/new_data/v2/data.json`).
 * Only its form is checked here; whether its prices can be trusted is another question.
 */
import type { MatchLogic } from '@pydantic/genai-prices';
import { z } from 'zod';
import { CATALOG_PROVIDER_IDS, type CatalogData } from '../pricing/catalog.ts';

/** Ids stand in cost lines, which are stored as JSON: the database takes neither U+0000 nor half a character. */
const Id = z
  .string()
  .min(1)
  .max(512)
  .refine((text) => /^\P{Cc}*$/u.test(text) && text.isWellFormed(), 'has a character that no name has');
/** Every model may be looked at for every name of every other: far more than there are, and still a moment's work. */
const MAX_MODELS = 1_000;
const MAX_RULES = 1_500;
/** Dated prices of a model, and steps of a price by the size of the prompt. */
const MAX_CONDITIONS = 12;
const MAX_TIERS = 4;
/** Rows times the circumstances in which they are compared: a published catalogue has some ten thousand. */
const MAX_COMPARISONS = 2_000_000;
/** USD for a million tokens, a thousand calls, an hour: far above any price, and far below what a column holds. */
const MAX_RATE = 1_000_000;
/** Published rules are one or two deep. */
const MAX_RULE_DEPTH = 4;

function createMatch(depth: number): z.ZodType<MatchLogic> {
  const plain = z.union([
    z.strictObject({ equals: z.string() }),
    z.strictObject({ starts_with: z.string().min(1) }),
    z.strictObject({ ends_with: z.string().min(1) }),
    z.strictObject({ contains: z.string().min(1) }),
    z.strictObject({
      regex: z.string().min(1).max(200).refine(isSafeExpression, 'is not a regular expression of the simple kind'),
    }),
  ]);
  if (depth === 0) return plain;
  const rules = z.array(createMatch(depth - 1)).min(1);
  return z.union([plain, z.strictObject({ or: rules }), z.strictObject({ and: rules })]);
}

const Match = createMatch(MAX_RULE_DEPTH);
const Rate = z.number().nonnegative().max(MAX_RATE);
const Tier = z.object({ start: z.number().int().min(0), price: Rate });
const Prices = z.record(z.string(), z.union([Rate, z.object({ base: Rate, tiers: z.array(Tier).max(MAX_TIERS) })]));
const Time = z.string().regex(/^\d{2}:\d{2}:\d{2}Z$/);
/** The published file leaves `type` out; the package's own data have it, in this order, which the price version sees. */
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
const Provider = z.object({ id: Id, models: z.array(Model).max(MAX_MODELS) });
type Provider = z.infer<typeof Provider>;
const Catalog = z.array(Provider).max(500);

/**
 * Expressions run on names that clients make up, so one that takes for ever would be a way to stop the gateway. Repeated
 * groups, references back and more than two open-ended repetitions are what it takes; published catalogues have none.
 */
function isSafeExpression(text: string): boolean {
  const bare = text
    .replace(/\\[1-9k]/g, ')*')
    .replace(/\\./g, 'x')
    .replace(/\[[^\]]*\]/g, 'x');
  const openEnded = bare.match(/[*+]|\{\d*,?\d{3,}\}|\{\d+,\}/g) ?? [];
  if (/\)[*+{]/.test(bare) || openEnded.length > 2) return false;
  try {
    new RegExp(text);
    return true;
  } catch {
    return false;
  }
}

export type ParsedCatalog =
  | { readonly isOk: true; readonly data: CatalogData; readonly models: number }
  | { readonly isOk: false; readonly problem: string };

function countRules(match: MatchLogic): number {
  const parts = 'or' in match ? match.or : 'and' in match ? match.and : null;
  return parts === null ? 1 : parts.reduce((sum, part) => sum + countRules(part), 0);
}

type Model = z.infer<typeof Model>;

function countComparisons({ prices }: Model): number {
  const conditions = Array.isArray(prices) ? prices.map((condition) => condition.prices) : [prices];
  const rates = conditions.flatMap((condition) => Object.values(condition));
  const tiers = rates.flatMap((rate) => (typeof rate === 'number' ? [] : rate.tiers));
  const sizes = new Set(tiers.map(({ start }) => start)).size + 1;
  return (conditions.length + 1) ** 2 * sizes * (rates.length + tiers.length);
}

/** What is of the right form and could still keep the gateway busy for minutes. */
function findExcess(providers: Iterable<Provider>): string | null {
  let comparisons = 0;
  for (const { id, models } of providers) {
    comparisons += models.reduce((sum, model) => sum + countComparisons(model), 0);
    if (comparisons > MAX_COMPARISONS) return `${id} has more dated prices than can be looked through`;
    if (models.reduce((sum, { match }) => sum + countRules(match), 0) > MAX_RULES)
      return `${id} has more than ${MAX_RULES} rules for names`;
  }
  return null;
}

/** `name` and `checkedOn` stand in every row that is made of it. Never throws. */
export function parseCatalog(text: string, name: string, checkedOn: string): ParsedCatalog {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { isOk: false, problem: 'it is not JSON' };
  }
  const parsed = Catalog.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    if (issue === undefined || issue.path.length === 0)
      return { isOk: false, problem: 'it is not a JSON array of providers, as genai-prices publishes it' };
    return { isOk: false, problem: `${issue.path.join('.')}: ${issue.message}` };
  }
  const known: readonly string[] = Object.values(CATALOG_PROVIDER_IDS);
  const providers = new Map(parsed.data.filter(({ id }) => known.includes(id)).map((entry) => [entry.id, entry]));
  const excess = findExcess(providers.values());
  if (excess !== null) return { isOk: false, problem: excess };
  const models = [...providers.values()].reduce((sum, provider) => sum + provider.models.length, 0);
  if (models === 0) return { isOk: false, problem: 'it has no model of any provider that the gateway knows' };
  return { isOk: true, models, data: { name, checkedOn, findProvider: (id) => providers.get(id) } };
}
