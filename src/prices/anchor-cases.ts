/**
 * Calls whose cost was worked out by hand, as a test of a new catalogue: what they cost must not change unnoticed. Their
 * usage is built from the worked components; how usage is read from answers is tested elsewhere.
 */
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { PROVIDER_NAMES } from '../call-record.ts';
import type { BillableCall } from '../pricing/billable-call.ts';
import type { ClassQuantities, UsageClass } from '../token-usage.ts';
import { type PicoUsd, parseUsd } from '../usd.ts';

export interface AnchorCase {
  readonly id: string;
  readonly model: string;
  readonly call: BillableCall;
  /** What it cost when the case was worked out. */
  readonly worked: PicoUsd;
}

/** The cases' words for our classes. */
const CLASSES: Readonly<Record<string, UsageClass>> = {
  input: 'input',
  input_text: 'input',
  input_audio: 'input_audio',
  input_image: 'input_image',
  input_audio_ms: 'input_audio_ms',
  characters: 'input_characters',
  cache_read: 'cache_read',
  cache_read_text: 'cache_read',
  cache_read_audio: 'cache_read_audio',
  // Without a lifetime: OpenAI's, who has one.
  cache_write: 'cache_creation_30m',
  cache_write_5m: 'cache_creation_5m',
  cache_write_1h: 'cache_creation_1h',
  output: 'output',
  output_text: 'output',
  output_audio: 'output_audio',
  output_image: 'output_image',
  web_search: 'web_search_requests',
};

const Term = z.string().nullable().default(null);
const Case = z.object({
  id: z.string(),
  provider: z.enum(PROVIDER_NAMES),
  endpoint: z.string(),
  model: z.string(),
  requested_at: z.string(),
  context: z.object({ batch: z.boolean().default(false) }),
  usage: z.object({ service_tier: Term, speed: Term, inference_geo: Term }).nullable(),
  response: z.object({ service_tier: Term }),
  expected_cost_usd: z.string().nullable(),
  expected_components: z.array(z.object({ type: z.string(), quantity: z.number() })).nullable(),
});
type Case = z.infer<typeof Case>;

/** Null for cases without a price, and for what is told apart by more than a class (pictures by size). */
function readClasses({ expected_components: components }: Case): ClassQuantities | null {
  const classes: Partial<Record<UsageClass, number>> = {};
  for (const { type, quantity } of components ?? []) {
    const unit = CLASSES[type];
    if (unit === undefined) return null;
    classes[unit] = (classes[unit] ?? 0) + quantity;
  }
  return components === null ? null : classes;
}

function createAnchor(entry: Case): AnchorCase | null {
  const classes = readClasses(entry);
  if (classes === null || entry.expected_cost_usd === null) return null;
  return {
    id: entry.id,
    model: entry.model,
    worked: parseUsd(entry.expected_cost_usd),
    call: {
      provider: entry.provider,
      providerAlias: null,
      endpoint: entry.endpoint,
      billed: true,
      isLater: false,
      requestedAtMs: Date.parse(entry.requested_at),
      model: entry.model,
      modelRequested: entry.model,
      serviceTier: entry.response.service_tier ?? entry.usage?.service_tier ?? null,
      speed: entry.usage?.speed ?? null,
      inferenceGeo: entry.usage?.inference_geo ?? null,
      region: null,
      isBatch: entry.context.batch,
      outcome: 'ok',
      status: 200,
      errorType: null,
      usage: { classes, reasoning: null, native: {} },
      usageSource: 'provider',
    },
  };
}

/** Reads the file that comes with the price book. */
export function readAnchorCases(): readonly AnchorCase[] {
  const text = readFileSync(new URL('../pricing/cost-cases.json', import.meta.url), 'utf8');
  return z
    .array(Case)
    .parse(JSON.parse(text))
    .map(createAnchor)
    .filter((anchor) => anchor !== null);
}
