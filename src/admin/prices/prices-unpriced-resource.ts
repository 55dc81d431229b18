/** What has no price, over HTTP: models with their calls and tokens, the reason, and the command that would end it. */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';
import { PROVIDER_NAMES } from '../../call-record.ts';
import { listUnpriced, type UnpricedModel } from '../../prices/list-unpriced.ts';
import { UNPRICED_REASONS } from '../../prices/unpriced-reason.ts';
import { type ClassQuantities, USAGE_CLASSES, type UsageClass } from '../../token-usage.ts';
import { type AdminDeps, requireDatabase } from '../admin-deps.ts';
import { ApiError } from '../api-error.ts';
import { COMMON_ERRORS, jsonAnswer, Money, Time, TimeParameter, Tokens, toDate } from '../schemas.ts';

const USUAL_RANGE_MS = 30 * 86_400_000;

export const UnpricedBody = z
  .object({
    provider: z.enum(PROVIDER_NAMES),
    model: z.string().nullable().describe('That would be billed, after mappings; null when the call names none'),
    endpoint: z.string(),
    reason: z
      .enum(UNPRICED_REASONS)
      .describe(
        '`terms`: only a tier, speed or place has no price; `priced_by_now`: it has one, the calls are to be priced again',
      ),
    terms: z.string().nullable().describe('The terms without a price, when they are the reason'),
    calls: z.number().int(),
    missing: z.array(z.enum(USAGE_CLASSES)).describe('Classes that were used and have no price'),
    input_tokens: Tokens.describe('Uncached text'),
    cache_read_input_tokens: Tokens,
    cache_creation_input_tokens: Tokens,
    output_tokens: Tokens,
    other_quantities: z.partialRecord(z.enum(USAGE_CLASSES), z.number().int()).describe('Of all other classes'),
    known_cost: Money.describe('What is known of the cost of these calls'),
    first_seen: Time,
    last_seen: Time,
    example_id: z.string().describe('The latest such call'),
    suggestion: z
      .string()
      .describe('A command, with words in capitals to be filled in; or a sentence where none helps'),
    note: z.string().nullable().describe('Why the price book has no price of a model that it knows'),
  })
  .openapi('UnpricedModel');
export type UnpricedBody = z.infer<typeof UnpricedBody>;

const RangeQuery = z.strictObject({
  from: TimeParameter.optional().describe('Default: 30 days ago'),
  to: TimeParameter.optional().describe('Default: now'),
});

const UnpricedList = z.object({ data: z.array(UnpricedBody).describe('Most calls first'), next_cursor: z.null() });

function sumOf(quantities: ClassQuantities, isCounted: (name: UsageClass) => boolean): number {
  const sum = USAGE_CLASSES.filter(isCounted).reduce((total, name) => total + (quantities[name] ?? 0), 0);
  return Math.min(sum, Number.MAX_SAFE_INTEGER);
}

function isCacheRead(name: UsageClass): boolean {
  return name.startsWith('cache_read');
}

function isCacheCreation(name: UsageClass): boolean {
  return name.startsWith('cache_creation');
}

function formatUnpriced(found: UnpricedModel): UnpricedBody {
  const { quantities } = found;
  const isOther = (name: UsageClass) =>
    name !== 'input' && name !== 'output' && !isCacheRead(name) && !isCacheCreation(name);
  return {
    provider: found.provider,
    model: found.model,
    endpoint: found.endpoint,
    reason: found.reason,
    terms: found.terms,
    calls: found.calls,
    missing: [...found.missing],
    input_tokens: quantities.input ?? 0,
    cache_read_input_tokens: sumOf(quantities, isCacheRead),
    cache_creation_input_tokens: sumOf(quantities, isCacheCreation),
    output_tokens: quantities.output ?? 0,
    other_quantities: Object.fromEntries(
      USAGE_CLASSES.filter((name) => isOther(name) && quantities[name] !== undefined).map((name) => [
        name,
        quantities[name] ?? 0,
      ]),
    ),
    known_cost: found.knownCost,
    first_seen: found.firstSeen.toISOString(),
    last_seen: found.lastSeen.toISOString(),
    example_id: found.exampleId,
    suggestion: found.suggestion,
    note: found.note,
  };
}

export function addUnpricedRoutes(app: OpenAPIHono, deps: AdminDeps): void {
  const list = createRoute({
    method: 'get',
    path: '/api/v1/prices/unpriced',
    summary: 'Models without a price, why, and what to do about it',
    request: { query: RangeQuery },
    responses: { 200: jsonAnswer(UnpricedList, 'All in one page'), ...COMMON_ERRORS },
  });
  app.openapi(list, async (c) => {
    const query = c.req.valid('query');
    const pool = requireDatabase(deps);
    // A call of this instant is before it only a millisecond later.
    const to = toDate(query.to) ?? new Date(deps.nowMs() + 1);
    const from = toDate(query.from) ?? new Date(to.getTime() - USUAL_RANGE_MS);
    if (to < from) throw new ApiError(400, 'invalid_request', '`to` is before `from`.');
    await deps.prices.refresh(pool);
    const found = await listUnpriced(pool, deps.accountId, { from, to, book: deps.prices.book() });
    return c.json({ data: found.map(formatUnpriced), next_cursor: null }, 200);
  });
}
