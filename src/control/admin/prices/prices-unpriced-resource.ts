/** Models without a price: calls, tokens, reason, and the command that would end it. */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';
import { PROVIDER_NAMES } from '../../../vocabulary/call-record.ts';
import { USAGE_CLASSES } from '../../../vocabulary/token-usage.ts';
import { listUnpriced } from '../../prices/declared/list-unpriced.ts';
import { UNPRICED_REASONS } from '../../prices/declared/unpriced-reason.ts';
import { type AdminDeps, requireDatabase } from '../admin-deps.ts';
import { ApiError } from '../api-error.ts';
import { SearchedTo } from '../log-bodies.ts';
import { accountOf } from '../principal.ts';
import { COMMON_ERRORS, jsonAnswer, Money, Time, TimeParameter, Tokens, toDate } from '../schemas.ts';
import { WaitParameter, walkLimitsOf } from '../scope-parameters.ts';

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
  wait_ms: WaitParameter,
});

const UnpricedList = z.object({
  data: z.array(UnpricedBody).describe('Most calls first'),
  next_cursor: z.null(),
  searched_to: SearchedTo,
});

export const unpricedRoute = createRoute({
  method: 'get',
  path: '/api/v1/prices/unpriced',
  summary: 'Models without a price, why, and what to do about it',
  request: { query: RangeQuery },
  responses: { 200: jsonAnswer(UnpricedList, 'All in one page'), ...COMMON_ERRORS },
});

export function addUnpricedRoutes(app: OpenAPIHono, deps: AdminDeps): void {
  app.openapi(unpricedRoute, async (c) => {
    const query = c.req.valid('query');
    const pool = requireDatabase(deps);
    // Exclusive, so the current millisecond counts too.
    const to = toDate(query.to) ?? new Date(deps.nowMs() + 1);
    const from = toDate(query.from) ?? new Date(to.getTime() - USUAL_RANGE_MS);
    if (to < from) throw new ApiError(400, 'invalid_request', '`to` is before `from`.');
    await deps.prices.refresh(pool);
    const question = { from, to, book: deps.prices.book(accountOf(c)) };
    const found = await listUnpriced(pool, accountOf(c), question, walkLimitsOf(query.wait_ms));
    return c.json({ data: found.models, next_cursor: null, searched_to: found.searchedTo?.toISOString() ?? null }, 200);
  });
}
