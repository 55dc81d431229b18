/** The price rows and rules of one model, each with its source. */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';
import { MAX_MODEL_LENGTH } from '../../../pricing/billing-terms.ts';
import { PRICE_LAYERS, ROW_TIERS } from '../../../pricing/price-row.ts';
import { USAGE_CLASSES } from '../../../vocabulary/token-usage.ts';
import { listPriceRows } from '../../prices/declared/list-price-rows.ts';
import { type AdminDeps, requireDatabase } from '../admin-deps.ts';
import { accountOf } from '../principal.ts';
import { COMMON_ERRORS, jsonAnswer, Time, TimeParameter, toDate } from '../schemas.ts';
import { ProviderField } from './prices-schemas.ts';

const RowsQuery = z.strictObject({
  provider: ProviderField,
  model: z.string().min(1).max(MAX_MODEL_LENGTH).describe('As it is called, or `billing_model` of a call'),
  at: TimeParameter.optional().describe('`requested_at` of a call; default: now'),
  provider_alias: z.string().max(256).optional(),
});

const RowBody = z
  .object({
    key: z.string().describe('As in `row` of a cost line, where several are joined with " × "'),
    layer: z.enum(PRICE_LAYERS),
    unit: z.enum(USAGE_CLASSES),
    service_tier: z.enum(ROW_TIERS),
    rate: z.string().describe('US dollars for `per` units, decimal text'),
    per: z.number().int(),
    valid_from: Time.nullable(),
    valid_to: Time.nullable(),
    calendar: z
      .object({
        utc_offset_minutes: z.number().int(),
        weekdays: z.array(z.number().int()).describe('1 is Monday'),
        from: z.string().describe('hh:mm'),
        to: z.string().describe('hh:mm, exclusive; may be past midnight'),
      })
      .nullable()
      .describe('Hours of the week when it holds; null: always'),
    prompt_tier: z
      .object({ over_tokens: z.number().int().nullable(), up_to_tokens: z.number().int().nullable() })
      .nullable()
      .describe('Sizes of the prompt that it is for; null: all'),
    places: z
      .array(z.string())
      .nullable()
      .describe('Where it holds: regions and geographies; null: where list prices do'),
    source: z.string(),
    checked_on: z.string().nullable().describe('A date; null for what was declared here'),
    in_force: z.boolean().describe('A call at that time, on these terms and of this size, is priced by it'),
  })
  .openapi('PriceRow');
export type PriceRowBody = z.infer<typeof RowBody>;

const RuleBody = z
  .object({
    key: z.string(),
    kind: z.enum(['multiplier', 'derivation', 'alias', 'mapping', 'discount']),
    text: z.string().describe('In words'),
    source: z.string(),
    checked_on: z.string().nullable(),
    in_force: z.boolean(),
  })
  .openapi('PriceRule');
export type PriceRuleBody = z.infer<typeof RuleBody>;

const RowsAnswer = z
  .object({
    billing_model: z.string().describe('After declared mappings'),
    rows: z.array(RowBody).describe('By rising precedence: of two in force for the same the later one counts'),
    rules: z.array(RuleBody),
  })
  .openapi('PriceRows');
export type PriceRowsBody = z.infer<typeof RowsAnswer>;

export const priceRowsRoute = createRoute({
  method: 'get',
  path: '/api/v1/prices/rows',
  summary: 'The prices and rules of one model at one time, with their sources',
  request: { query: RowsQuery },
  responses: { 200: jsonAnswer(RowsAnswer, 'No rows: the model has no price'), ...COMMON_ERRORS },
});

export function addPriceRowsRoutes(app: OpenAPIHono, deps: AdminDeps): void {
  app.openapi(priceRowsRoute, async (c) => {
    const { provider, model, at, provider_alias: providerAlias = null } = c.req.valid('query');
    await deps.prices.refresh(requireDatabase(deps));
    const question = { provider, model, providerAlias, at: toDate(at) ?? new Date(deps.nowMs()) };
    return c.json(listPriceRows(deps.prices.book(accountOf(c)), question), 200);
  });
}
