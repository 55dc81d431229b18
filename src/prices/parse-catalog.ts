/**
 * A price catalogue from a file, in the form that `@pydantic/genai-prices` publishes (`prices/new_data/v2/data.json`).
 * Only its form is checked here; whether its prices can be trusted is another question.
 */
import type { MatchLogic } from '@pydantic/genai-prices';
import { z } from 'zod';
import { CATALOG_PROVIDER_IDS, type CatalogData } from '../pricing/catalog.ts';

const Id = z.string().min(1).max(512);
const Match: z.ZodType<MatchLogic> = z.lazy(() =>
  z.union([
    z.strictObject({ equals: z.string() }),
    z.strictObject({ starts_with: z.string().min(1) }),
    z.strictObject({ ends_with: z.string().min(1) }),
    z.strictObject({ contains: z.string().min(1) }),
    z.strictObject({ regex: z.string().min(1).max(1000).refine(isExpression, 'not a regular expression') }),
    z.strictObject({ or: z.array(Match).min(1) }),
    z.strictObject({ and: z.array(Match).min(1) }),
  ]),
);
const Rate = z.number().nonnegative();
const Prices = z.record(
  z.string(),
  z.union([Rate, z.object({ base: Rate, tiers: z.array(z.object({ start: z.number().int().min(0), price: Rate })) })]),
);
const Time = z.string().regex(/^\d{2}:\d{2}:\d{2}Z$/);
/** The published file leaves `type` out; the package's own data have it. */
const Constraint = z.union([
  z
    .strictObject({ type: z.literal('start_date').optional(), start_date: z.iso.date() })
    .transform(({ start_date }) => ({ type: 'start_date' as const, start_date })),
  z
    .strictObject({ type: z.literal('time_of_date').optional(), start_time: Time, end_time: Time })
    .transform(({ start_time, end_time }) => ({ type: 'time_of_date' as const, start_time, end_time })),
]);
const Model = z.object({
  id: Id,
  match: Match,
  prices: z.union([
    Prices,
    z.array(
      z.object({ constraint: Constraint.optional(), prices: Prices }).transform(({ constraint, prices }) => ({
        prices,
        ...(constraint === undefined ? {} : { constraint }),
      })),
    ),
  ]),
});
const Catalog = z.array(z.object({ id: Id, models: z.array(Model).max(10_000) })).max(500);

function isExpression(text: string): boolean {
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

/** `name` and `checkedOn` stand in every row that is made of it. Never throws. */
export function parseCatalog(text: string, name: string, checkedOn: string): ParsedCatalog {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { isOk: false, problem: 'the file is not JSON' };
  }
  const parsed = Catalog.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const where = issue === undefined || issue.path.length === 0 ? 'the file' : issue.path.join('.');
    return { isOk: false, problem: `${where}: ${issue?.message ?? 'not a price catalogue'}` };
  }
  const known: readonly string[] = Object.values(CATALOG_PROVIDER_IDS);
  const providers = new Map(parsed.data.filter(({ id }) => known.includes(id)).map((entry) => [entry.id, entry]));
  const models = [...providers.values()].reduce((sum, provider) => sum + provider.models.length, 0);
  return { isOk: true, models, data: { name, checkedOn, findProvider: (id) => providers.get(id) } };
}
