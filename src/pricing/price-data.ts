/** The schema of the files in `price-data/`. A file that does not match stops the gateway at the start. */
import { z } from 'zod';
import { PROVIDER_NAMES, type ProviderName } from '../vocabulary/call-record.ts';
import { COUNTED_CLASSES, USAGE_CLASSES, type UsageClass } from '../vocabulary/token-usage.ts';
import type { ModelMatch } from './model-match.ts';
import { matchSnapshots } from './overlay-row.ts';
import { type Calendar, ROW_TIERS } from './price-row.ts';

function isExpression(text: string): boolean {
  try {
    new RegExp(text);
    return true;
  } catch {
    return false;
  }
}

const Text = z.string().min(1).max(512);
/** A date means midnight UTC. */
const Time = z.union([z.iso.date().transform((day) => `${day}T00:00:00Z`), z.iso.datetime()]);
const Decimal = z.string().regex(/^\d{1,6}(\.\d{1,12})?$/, 'is no plain decimal such as "0.15"');
const Class = z.enum(USAGE_CLASSES);

const TOKENS: readonly UsageClass[] = USAGE_CLASSES.filter((unit) => !COUNTED_CLASSES.includes(unit));
const CLASS_GROUPS: Readonly<Record<'tokens' | 'cached' | 'input-and-output', readonly UsageClass[]>> = {
  tokens: TOKENS,
  cached: TOKENS.filter((unit) => unit.startsWith('cache_read')),
  'input-and-output': TOKENS.filter((unit) => unit.startsWith('input') || unit.startsWith('output')),
};
const Classes = z.union([
  z.array(Class).min(1),
  z.enum(['tokens', 'cached', 'input-and-output']).transform((group) => CLASS_GROUPS[group]),
]);

const Pattern = z.string().max(512).refine(isExpression, 'is no regular expression');

/** Exact names, names with dated snapshots, or an expression. */
const ids = {
  models: z.array(Text).min(1).optional(),
  snapshots: z.literal(true).optional(),
  starts_with: Text.optional(),
  pattern: Pattern.optional(),
};
interface Ids {
  readonly models?: readonly string[] | undefined;
  readonly snapshots?: true | undefined;
  readonly starts_with?: string | undefined;
  readonly pattern?: string | undefined;
}

function hasOneWay({ models, starts_with, pattern }: Ids): boolean {
  return [models, starts_with, pattern].filter((way) => way !== undefined).length === 1;
}
const ONE_WAY = 'says its ids in one of: models, starts_with, pattern';

/** `name` is unique in the file and stands in cost lines; it defaults to the first model. */
const row = {
  name: Text.optional(),
  ...ids,
  from: Time.optional(),
  until: Time.optional(),
  source: Text,
};

const Price = z
  .strictObject({
    ...row,
    tier: z.enum(ROW_TIERS).optional(),
    hours: Text.optional(),
    /** Prompts of more than `over` and at most `upTo` tokens, cached ones included. */
    prompt: z.strictObject({ over: z.int().min(0).optional(), upTo: z.int().positive().optional() }).optional(),
    pictures: z
      .strictObject({ sizes: z.array(Text.nullable()).min(1), qualities: z.array(Text.nullable()).min(1) })
      .optional(),
    /** Names of `place.ts`; absent: where list prices hold. */
    places: z.array(Text).min(1).optional(),
    rates: z.partialRecord(Class, Decimal).refine((rates) => Object.keys(rates).length > 0, 'has no rate'),
  })
  .refine(hasOneWay, ONE_WAY);

const Multiplier = z
  .strictObject({
    ...row,
    term: z.enum(['serviceTier', 'speed', 'inferenceGeo', 'place']),
    value: Text,
    factor: Decimal,
    classes: Classes,
  })
  .refine(hasOneWay, ONE_WAY);

const Derived = z.strictObject({ ...row, classes: Classes, of: Class, factor: Decimal }).refine(hasOneWay, ONE_WAY);

const Alias = z.strictObject({ ...row, model: Text }).refine(hasOneWay, ONE_WAY);

const Note = z.strictObject({ ...row, reason: Text }).refine(hasOneWay, ONE_WAY);

const Minute = z
  .string()
  .regex(/^([01]\d|2[0-3]):[0-5]\d$/)
  .transform((time) => Number(time.slice(0, 2)) * 60 + Number(time.slice(3)));
const Hours = z
  .strictObject({
    utcOffsetMinutes: z.int().min(-840).max(840),
    weekdays: z.array(z.int().min(1).max(7)).min(1),
    from: Minute,
    until: Minute,
  })
  .transform(
    ({ utcOffsetMinutes, weekdays, from, until }): Calendar => ({
      utcOffsetMinutes,
      weekdays,
      fromMinute: from,
      toMinute: until,
    }),
  );

const PriceData = z.strictObject({
  provider: z.enum(PROVIDER_NAMES),
  /** The source and the day it was read. Sources that fill the catalog's holes yield to a later catalog. */
  sources: z.record(
    Text,
    z.strictObject({ title: Text, checked: z.iso.date(), fillsHoles: z.literal(true).optional() }),
  ),
  hours: z.record(Text, Hours),
  prices: z.array(Price),
  multipliers: z.array(Multiplier),
  derived: z.array(Derived),
  aliases: z.array(Alias),
  withoutPrice: z.array(Note),
  /** Models whose price differs from public catalogs, with the reason. */
  settled: z.array(Note),
});
export type PriceData = z.infer<typeof PriceData>;

export interface Sourced {
  readonly name: string;
  readonly provider: ProviderName;
  readonly match: ModelMatch;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly source: string;
  readonly checkedOn: string;
}

interface Entry extends Ids {
  readonly name?: string | undefined;
  readonly from?: string | undefined;
  readonly until?: string | undefined;
  readonly source: string;
}

function toModelMatch({ models = [], snapshots, starts_with, pattern }: Ids): ModelMatch {
  if (pattern !== undefined) return { regex: pattern };
  if (starts_with !== undefined) return { starts_with };
  const named = models.map((model): ModelMatch => (snapshots === true ? matchSnapshots(model) : { equals: model }));
  return named.length === 1 && named[0] !== undefined ? named[0] : { or: named };
}

export function readSourced({ provider, sources }: PriceData, entry: Entry): Sourced {
  const source = sources[entry.source];
  return {
    name: `${provider}/${nameOf(entry)}`,
    provider,
    match: toModelMatch(entry),
    from: entry.from,
    to: entry.until,
    source: source?.title ?? '',
    checkedOn: source?.checked ?? '',
  };
}

function nameOf({ name, models }: Entry): string {
  return name ?? models?.[0] ?? '';
}

function requireSources({ sources, hours, ...lists }: PriceData): void {
  for (const [list, entries] of Object.entries(lists)) {
    if (typeof entries === 'string') continue;
    for (const entry of entries) {
      const name = nameOf(entry);
      if (!Object.hasOwn(sources, entry.source))
        throw new Error(`${list}, ${name}: no source is named "${entry.source}"`);
      if ('hours' in entry && entry.hours !== undefined && !Object.hasOwn(hours, entry.hours))
        throw new Error(`${list}, ${name}: no hours are named "${entry.hours}"`);
    }
  }
}

/** Throws on another form, with the place and the fault. */
export function parsePriceData(file: string, value: unknown): PriceData {
  const parsed = PriceData.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new Error(`price data ${file}: ${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'is not of the form'}`);
  }
  try {
    requireSources(parsed.data);
  } catch (error) {
    throw new Error(`price data ${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
  return parsed.data;
}
