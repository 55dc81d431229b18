/**
 * Further worked cases of the project's own: thresholds, dates, tiers, modalities and tools of every provider, with
 * their sources. The costs were computed from the published rates in whole numbers, and not by this code.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { PROVIDER_NAMES } from '../call-record.ts';
import { PROVIDERS } from '../providers/registry.ts';
import { EMPTY_READING } from '../shapes/reading.ts';
import { SHAPES } from '../shapes/registry.ts';
import { USAGE_CLASSES } from '../token-usage.ts';
import { formatUsd } from '../usd.ts';
import type { BillableCall, CostLine } from './billable-call.ts';
import { multiplyDecimals, parseDecimal } from './decimal.ts';
import { createPriceBook } from './price-book.ts';

const caseSchema = z.object({
  id: z.string(),
  provider: z.enum(PROVIDER_NAMES),
  endpoint: z.string(),
  model: z.string(),
  requested_at: z.string(),
  context: z.object({ batch: z.boolean().default(false), input_characters: z.number().optional() }),
  usage: z.record(z.string(), z.json()).nullable(),
  response: z.record(z.string(), z.json()),
  expected_cost_usd: z.string().nullable(),
  expected_status: z.enum(['exact', 'partial', 'unpriced']),
  expected_known_usd: z.string().optional(),
  expected_components: z
    .array(
      z.object({
        type: z.enum(USAGE_CLASSES),
        quantity: z.number(),
        unit: z.string(),
        rate_usd: z.string(),
        per: z.number(),
        cost_usd: z.string(),
      }),
    )
    .nullable(),
  sources: z.object({ agree: z.array(z.string()).min(1), disagree: z.array(z.string()) }),
  note: z.string().min(10),
  tags: z.array(z.string()).min(1),
});
type OwnCase = z.infer<typeof caseSchema>;

const CASES = z.array(caseSchema).parse(JSON.parse(readFileSync(new URL('./own-cases.json', import.meta.url), 'utf8')));

function readCall(ownCase: OwnCase): BillableCall {
  const { provider: name, model, context, usage, response } = ownCase;
  const [method = '', template = ''] = ownCase.endpoint.replace('/batches (result line)', '').split(' ');
  const chatOrNot = usage?.['input_tokens'] === undefined ? '/v1/chat/completions' : '/v1/responses';
  const written = template.replace(/\{\w+\}/, encodeURIComponent(model));
  const path = PROVIDERS[name].mapPath(ownCase.endpoint.endsWith('(output line)') ? chatOrNot : written);
  const endpoint = PROVIDERS[name].endpoint({ method, path, query: '', header: () => undefined });
  const usageName = name === 'gemini' ? 'usageMetadata' : 'usage';
  const isFlat = usage?.['inputTextTokenCount'] !== undefined;
  const body = { model, ...response, ...(usage === null ? {} : isFlat ? usage : { [usageName]: usage }) };
  const reading = SHAPES[endpoint.shape].readJson(body, { ...EMPTY_READING, model: null });
  const characters = context.input_characters;
  const sent =
    characters === undefined ? null : { classes: { input_characters: characters }, reasoning: null, native: {} };
  return {
    provider: name,
    providerAlias: null,
    endpoint: endpoint.family,
    billed: endpoint.billed,
    isLater: false,
    requestedAtMs: Date.parse(ownCase.requested_at),
    model: reading.model,
    modelRequested: model,
    serviceTier: reading.serviceTier,
    speed: reading.speed,
    inferenceGeo: reading.inferenceGeo,
    region: null,
    isBatch: endpoint.isBatch || context.batch,
    outcome: 'ok',
    errorType: null,
    status: 200,
    usage: reading.usage ?? sent,
    usageSource: 'provider',
  };
}

/** The price of one, whichever unit the list gives it for. */
function priceOfOne(line: CostLine): bigint {
  return (multiplyDecimals(parseDecimal(line.rate), parseDecimal(line.multiplier)) * 10n ** 12n) / BigInt(line.per);
}

const book = createPriceBook();

describe('the project’s own worked cases', () => {
  it('are more than forty, each with an id of its own, of every provider', () => {
    expect(CASES.length).toBeGreaterThan(100);
    expect(new Set(CASES.map((entry) => entry.id)).size).toBe(CASES.length);
    expect(new Set(CASES.map((entry) => entry.provider))).toEqual(new Set(PROVIDER_NAMES));
  });

  it.each(CASES.map((ownCase) => [ownCase.id, ownCase] as const))('%s', (_id, ownCase) => {
    const priced = book.priceCall(readCall(ownCase));
    const total = priced.totalCost === null ? null : formatUsd(priced.totalCost);
    expect([priced.costStatus, total]).toEqual([ownCase.expected_status, ownCase.expected_cost_usd]);
    expect(formatUsd(priced.knownCost)).toBe(ownCase.expected_known_usd ?? ownCase.expected_cost_usd ?? '0');
    const lines = priced.lines.map((line) => [line.class, line.quantity, line.unit, line.amount, priceOfOne(line)]);
    const expected = (ownCase.expected_components ?? []).map((part) => [
      part.type,
      part.quantity,
      part.unit,
      part.cost_usd,
      (parseDecimal(part.rate_usd) * 10n ** 12n) / BigInt(part.per),
    ]);
    expect(lines).toHaveLength(expected.length);
    expect(lines).toEqual(expect.arrayContaining(expected));
  });
});
