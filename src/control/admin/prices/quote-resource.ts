/** Explains the cost of given usage by the price book in force, without a record or the database. */

import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';
import { MAX_MODEL_LENGTH } from '../../../pricing/billing-terms.ts';
import { MAX_QUANTITY } from '../../../pricing/cost-lines.ts';
import type { PriceBook } from '../../../pricing/price-book.ts';
import { PRICE_LAYERS } from '../../../pricing/price-row.ts';
import { PROVIDER_NAMES } from '../../../vocabulary/call-record.ts';
import { USAGE_CLASSES } from '../../../vocabulary/token-usage.ts';
import { formatUsd } from '../../../vocabulary/usd.ts';
import { type Quote, quoteCall } from '../../prices/quote/quote-call.ts';
import { QuoteError, type QuoteInput } from '../../prices/quote/quote-input.ts';
import { ApiError } from '../api-error.ts';
import { accountOf } from '../principal.ts';
import { errorAnswer, jsonAnswer, Money, TimeParameter, toDate } from '../schemas.ts';

export interface QuoteDeps {
  readonly nowMs: () => number;
  readonly prices: { readonly book: (accountId: number) => PriceBook };
}

const Count = z.number().int().min(0).max(MAX_QUANTITY);
const Term = z.string().max(100).optional();
const UsageClassName = z.enum(USAGE_CLASSES);
const ClassCounts = z.partialRecord(UsageClassName, Count);
/** A type of its own, since the document would follow it into itself without end. */
const NativeObject = z
  .record(z.string(), z.json(), 'write a JSON object')
  .openapi({ type: 'object', additionalProperties: true });
/** An entry of a list of worked cases can be sent unchanged. */
const Ignored = z.unknown().optional().describe('Ignored');

const QuoteContextBody = z.strictObject({
  batch: z.boolean().optional().describe('Run as a batch; endpoints of batches need not say it'),
  n: z.number().int().min(1).max(1_000).optional().describe('Pictures, where they are billed by the piece'),
  size: z.string().max(50).optional().describe('Of the pictures, as in the request'),
  quality: z.string().max(50).optional().describe('Of the pictures, as in the request'),
  input_characters: Count.optional().describe('Of the text to be spoken, where speech is billed by it'),
  documents: z
    .number()
    .int()
    .min(1)
    .max(100_000)
    .optional()
    .describe('To be ranked, each of one piece (up to 512 tokens)'),
  region: z
    .string()
    .min(1)
    .max(64)
    .optional()
    .describe("Where it is served: AWS's region, or OpenAI's data residency (`eu`)"),
});

const QuoteRequest = z
  .strictObject({
    provider: z.enum(PROVIDER_NAMES, `write one of ${PROVIDER_NAMES.join(', ')}`),
    model: z.string().min(1).max(MAX_MODEL_LENGTH).optional().describe('As in the request, or in its path'),
    endpoint: z
      .string()
      .max(1_024)
      .optional()
      .describe('Method and path: `POST /v1/responses`, `POST /model/{id}/converse`; needed with `usage`'),
    usage: NativeObject.nullable()
      .optional()
      .describe("The provider's own usage object, as it stands in the answer; null where it sends none"),
    response: NativeObject.optional().describe('Other members of the answer: service_tier, output, candidates, …'),
    context: QuoteContextBody.optional().describe('What only the request says'),
    classes: ClassCounts.optional().describe("In place of `usage`: quantities in the gateway's own, disjoint classes"),
    service_tier: Term.describe('With `classes`; with `usage` it stands in the answer'),
    speed: Term.describe('Likewise'),
    inference_geo: Term.describe('Likewise'),
    requested_at: TimeParameter.optional().describe('Prices of this moment; now without it'),
    provider_alias: z.string().max(200).optional().describe('Prices that the operator declared for this alias'),
    id: Ignored,
    note: Ignored,
    tags: Ignored,
    sources: Ignored,
    expected_cost_usd: Ignored,
    expected_components: Ignored,
  })
  .openapi('QuoteRequest');

const CostLineBody = z
  .object({
    class: UsageClassName,
    model: z.string().optional().describe("Another model than the call's, and what it worked as"),
    purpose: z.string().optional(),
    quantity: z.number(),
    unit: z.enum(['token', 'request', 'character', 'image', 'millisecond']),
    rate: Money.describe('For `per` units'),
    per: z.number(),
    multiplier: z.string().describe('Decimal text'),
    amount: Money.describe('quantity × rate × multiplier ÷ per'),
    layer: z.enum(PRICE_LAYERS).describe('Where the price is from'),
    row: z.string().describe('The row, and after it the rules, that made the price'),
    rated_as: UsageClassName.describe('The class whose rate was used'),
  })
  .openapi('CostLine');

const QuoteAnswer = z
  .object({
    total_cost: Money.nullable().describe('Null unless all of it is known'),
    known_cost: Money,
    cost_status: z.enum(['exact', 'partial', 'unpriced', 'no_usage', 'not_billed']),
    cost_lines: z.array(CostLineBody).describe('As they are stored with a call'),
    price_version: z.string(),
    billing_model: z.string().nullable().describe('The model id that the price was looked up by'),
    usage: z.partialRecord(UsageClassName, z.number()).nullable().describe('By class, as a record would have it'),
    other_usage: z
      .array(
        z.object({
          purpose: z.string(),
          model: z.string().nullable().describe("Null: the call's own, in another prompt"),
          usage: z.partialRecord(UsageClassName, z.number()),
        }),
      )
      .describe('What other models used within the call'),
    unpriced: z
      .array(
        z.object({
          class: UsageClassName,
          quantity: z.number(),
          model: z.string().optional(),
          purpose: z.string().optional(),
          reason: z.string().describe('A few words for people'),
        }),
      )
      .describe('What was used and has no price'),
    unread: z.array(z.string()).describe('Numbers of the native usage that had no influence: misspelt, or new'),
    notes: z.array(z.string()).describe('What else to know, in sentences'),
  })
  .openapi('Quote');

export type QuoteBody = z.infer<typeof QuoteAnswer>;

function invalid(message: string): ApiError {
  return new ApiError(400, 'invalid_request', message);
}

function toQuoteInput(body: z.infer<typeof QuoteRequest>, nowMs: number): QuoteInput {
  const { provider, endpoint, usage, response, classes, context = {} } = body;
  const call = {
    provider,
    context,
    model: body.model ?? null,
    providerAlias: body.provider_alias ?? null,
    requestedAtMs: toDate(body.requested_at)?.getTime() ?? nowMs,
  };
  if (classes !== undefined) {
    if (usage !== undefined || response !== undefined)
      throw invalid('classes: they stand in place of usage and response; give one or the other.');
    const { service_tier = null, speed = null, inference_geo = null } = body;
    return { kind: 'classes', ...call, classes, serviceTier: service_tier, speed, inferenceGeo: inference_geo };
  }
  if (endpoint === undefined)
    throw invalid('endpoint: it says how usage is written; give it ("POST /v1/responses"), or classes in its place.');
  if (body.service_tier !== undefined || body.speed !== undefined || body.inference_geo !== undefined)
    throw invalid(
      'service_tier, speed and inference_geo go with classes; in an answer they stand in response or usage.',
    );
  return { kind: 'native', ...call, endpoint, usage: usage ?? null, response: response ?? {} };
}

function formatQuote(quote: Quote): QuoteBody {
  return {
    total_cost: quote.totalCost === null ? null : formatUsd(quote.totalCost),
    known_cost: formatUsd(quote.knownCost),
    cost_status: quote.costStatus,
    cost_lines: [...quote.lines],
    price_version: quote.priceVersion,
    billing_model: quote.billingModel,
    usage: quote.usage === null ? null : { ...quote.usage.classes },
    other_usage: (quote.usage?.others ?? []).map(({ purpose, model, classes }) => ({ purpose, model, usage: classes })),
    unpriced: [...quote.unpriced],
    unread: [...quote.unread],
    notes: [...quote.notes],
  };
}

export const quoteRoute = createRoute({
  method: 'post',
  path: '/api/v1/prices/quote',
  summary: 'What a call would cost, and why; by the code that prices real calls. Nothing is stored',
  request: { body: { required: true, content: { 'application/json': { schema: QuoteRequest } } } },
  responses: {
    200: jsonAnswer(QuoteAnswer, 'The cost, its lines, and what is not known'),
    400: errorAnswer('The question cannot be answered as it was put; the message says why'),
    401: errorAnswer('No admin token, or a wrong one'),
  },
});

export function addQuoteRoute(app: OpenAPIHono, deps: QuoteDeps): void {
  app.openapi(quoteRoute, (c) => {
    const nowMs = deps.nowMs();
    const input = toQuoteInput(c.req.valid('json'), nowMs);
    try {
      return c.json(formatQuote(quoteCall(input, deps.prices.book(accountOf(c)), nowMs)), 200);
    } catch (error) {
      throw error instanceof QuoteError ? new ApiError(400, error.code, error.message) : error;
    }
  });
}
