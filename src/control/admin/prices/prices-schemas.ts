/** The fields of declared prices, with bounds and messages. */
import { z } from '@hono/zod-openapi';
import { MAX_MODEL_LENGTH } from '../../../pricing/billing-terms.ts';
import { formatDecimal, parseDecimal } from '../../../pricing/decimal.ts';
import { MATCH_KINDS } from '../../../pricing/operator-prices.ts';
import { ROW_TIERS } from '../../../pricing/price-row.ts';
import { PROVIDER_NAMES } from '../../../vocabulary/call-record.ts';
import { USAGE_CLASSES } from '../../../vocabulary/token-usage.ts';
import { parseTime } from '../../log/log-filter.ts';
import { UNITS } from '../../prices/declared/check-declaration.ts';
import { DECLARATION_KINDS, type Mapping, type Override } from '../../prices/declared/declaration.ts';
import { TIME_FORM, Time } from '../schemas.ts';

/** Ten cents for a token, far above every published price: anything higher is a mistake. */
const MAX_RATE = '100000';
const MAX_FACTOR = '10';
const MAX_NOTE_CHARACTERS = 500;
const MAX_ALIAS_CHARACTERS = 256;
/** Exceeds every prompt, and sums stay whole numbers. */
const MAX_BOUND_TOKENS = 1_000_000_000_000;

const PLAIN_DECIMAL = /^\d{1,12}(?:\.\d{1,18})?$/;

function isDecimal(text: string, decimals: number, most: string): boolean {
  if (!PLAIN_DECIMAL.test(text)) return false;
  const [, fraction = ''] = text.replace(/(\.\d*?)0+$/, '$1').split('.');
  return fraction.length <= decimals && parseDecimal(text) <= parseDecimal(most);
}

function decimalText(what: string, decimals: number, most: string, example: string) {
  return z
    .string({
      error: ({ input }) =>
        typeof input === 'number'
          ? `write the ${what} as text, "${input}": a JSON number is a float, and may not be what you typed`
          : `a ${what} is decimal text such as "${example}"`,
    })
    .refine((text) => isDecimal(text, decimals, most), {
      error: `a ${what} is plain decimal text from 0 to ${most} with at most ${decimals} decimals, such as "${example}"`,
    })
    .transform((text) => formatDecimal(parseDecimal(text)));
}

/** Control characters would break PostgreSQL or a terminal. */
function plainText(what: string, most: number) {
  return z
    .string()
    .trim()
    .max(most, `${what} has at most ${most} characters`)
    .refine((text) => !/\p{Cc}/u.test(text), `${what} has no control characters`)
    .refine((text) => text.isWellFormed(), `${what} has no half of a character`);
}

const ModelText = plainText('a model id', MAX_MODEL_LENGTH);
const ModelId = ModelText.min(1, 'give the id of a model');

const TimeText = z
  .string()
  .refine((text) => parseTime(text) !== null, TIME_FORM)
  .transform((text) => parseTime(text)?.toISOString() ?? text);

export const ProviderField = z.enum(PROVIDER_NAMES, { error: `one of ${PROVIDER_NAMES.join(', ')}` });

const AliasField = plainText('an alias', MAX_ALIAS_CHARACTERS)
  .min(1, 'an alias has a name; give null for all calls of the provider')
  .describe('Only calls with this X-Gateway-Provider-Alias; null: all calls of the provider');

const ScopeFields = {
  provider: ProviderField.describe('Where the model is called'),
  provider_alias: AliasField.nullable().default(null),
  valid_from: TimeText.nullable().default(null).describe('First instant at which it holds; null: since ever'),
  valid_to: TimeText.nullable()
    .default(null)
    .describe('Instant from which it holds no more; null: until further notice'),
  note: plainText('a note', MAX_NOTE_CHARACTERS).nullable().default(null).describe('Why, in your words'),
} as const;

const MatchField = z
  .enum(MATCH_KINDS)
  .default('exact')
  .describe('exact: the whole id; prefix: every id that begins so. In any case');

const Bound = z.number().int().min(0).max(MAX_BOUND_TOKENS).nullable().default(null);

type Dated = Pick<Override, 'valid_from' | 'valid_to'>;
function isOrdered({ valid_from: from, valid_to: to }: Dated): boolean {
  return from === null || to === null || from < to;
}
const ORDER = { path: ['valid_to'], error: 'it must be later than valid_from' };

function isSpan({ over_tokens: over, up_to_tokens: upTo }: Pick<Override, 'over_tokens' | 'up_to_tokens'>): boolean {
  return upTo === null || upTo > (over ?? 0);
}
const SPAN = { path: ['up_to_tokens'], error: 'it must be more than over_tokens' };

function isForSomething({ match, model, provider_alias: alias }: Pick<Mapping, 'match' | 'model' | 'provider_alias'>) {
  return model !== '' || (match === 'prefix' && alias !== null);
}
const SOMETHING = {
  path: ['model'],
  error: 'give the id; only as a prefix under a provider_alias may it be empty, for every id under that alias',
};

const Rates = z
  .partialRecord(z.enum(USAGE_CLASSES), decimalText('rate', 18, MAX_RATE, '1.25'), {
    // The enum's type has no unknown keys, but they are reported here.
    error: (issue) =>
      'keys' in issue && Array.isArray(issue.keys)
        ? `${issue.keys.join(', ')} is no usage class; they are ${USAGE_CLASSES.join(', ')}`
        : 'give rates by usage class, such as {"input": "1.25"}',
  })
  .refine((rates) => Object.keys(rates).length > 0, 'give at least one rate, such as {"input": "1.25"}')
  .describe(`By usage class, as decimal text: ${UNITS}`);

const OverrideFields = z.strictObject({
  ...ScopeFields,
  match: MatchField,
  model: ModelId.describe('Model id, or its beginning'),
  service_tier: z
    .enum(ROW_TIERS)
    .default('standard')
    .describe('Terms that the rates are for; any: whatever the terms, also of speed and place'),
  over_tokens: Bound.describe('Only prompts of more than so many tokens, cache included'),
  up_to_tokens: Bound.describe('Only prompts of at most so many tokens'),
  rates: Rates,
});

const MappingFields = z.strictObject({
  ...ScopeFields,
  match: MatchField,
  model: ModelText.describe('The id, or its beginning; empty with a prefix: every id under the alias'),
  billing_model: ModelId.describe('Model whose prices count, at the same provider'),
});

const MultiplierFields = z.strictObject({
  ...ScopeFields,
  factor: decimalText('factor', 6, MAX_FACTOR, '0.85').describe(
    '0.85 for 15 % off. On list prices; overrides stay as they are',
  ),
});

export const OverrideBody = OverrideFields.refine(isOrdered, ORDER)
  .refine(isSpan, SPAN)
  .transform((fields) => ({ kind: 'override' as const, ...fields }))
  .openapi('PriceOverrideInput');
export const MappingBody = MappingFields.refine(isOrdered, ORDER)
  .refine(isForSomething, SOMETHING)
  .transform((fields) => ({ kind: 'mapping' as const, ...fields }))
  .openapi('PriceMappingInput');
export const MultiplierBody = MultiplierFields.refine(isOrdered, ORDER)
  .transform((fields) => ({ kind: 'multiplier' as const, ...fields }))
  .openapi('PriceMultiplierInput');

export const DeclarationBody = z.discriminatedUnion('kind', [
  OverrideFields.extend({ kind: z.literal('override') })
    .refine(isOrdered, ORDER)
    .refine(isSpan, SPAN),
  MappingFields.extend({ kind: z.literal('mapping') })
    .refine(isOrdered, ORDER)
    .refine(isForSomething, SOMETHING),
  MultiplierFields.extend({ kind: z.literal('multiplier') }).refine(isOrdered, ORDER),
]);

const StoredFields = {
  id: z.number().int().describe('Cost lines name it, after a #; a change gives a new one'),
  created_at: Time,
  provider: z.enum(PROVIDER_NAMES),
  provider_alias: z.string().nullable(),
  valid_from: Time.nullable(),
  valid_to: Time.nullable(),
  note: z.string().nullable(),
} as const;

export const OverrideRecord = z
  .object({
    ...StoredFields,
    match: z.enum(MATCH_KINDS),
    model: z.string(),
    service_tier: z.enum(ROW_TIERS),
    over_tokens: z.number().int().nullable(),
    up_to_tokens: z.number().int().nullable(),
    rates: z.partialRecord(z.enum(USAGE_CLASSES), z.string()).describe(UNITS),
  })
  .openapi('PriceOverride');
export type OverrideRecord = z.infer<typeof OverrideRecord>;

export const MappingRecord = z
  .object({ ...StoredFields, match: z.enum(MATCH_KINDS), model: z.string(), billing_model: z.string() })
  .openapi('PriceMapping');
export type MappingRecord = z.infer<typeof MappingRecord>;

export const MultiplierRecord = z.object({ ...StoredFields, factor: z.string() }).openapi('PriceMultiplier');
export type MultiplierRecord = z.infer<typeof MultiplierRecord>;

export const DeclarationKindField = z.enum(DECLARATION_KINDS);
export const DeclarationId = z.coerce.number().int().min(1).max(Number.MAX_SAFE_INTEGER);
