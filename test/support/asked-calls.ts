/** Requests as they would have been for recorded answers and worked cases, to be bounded before and settled after. */
import { readNative } from '../../src/control/prices/quote/read-native.ts';
import { readBilledUsage } from '../../src/formats/usage/billed-usage.ts';
import { createSentQueries } from '../../src/formats/usage/sent-queries.ts';
import type { AskedCall } from '../../src/pricing/greatest/greatest-cost.ts';
import type { BilledBegin, BilledEnd } from '../../src/pricing/to-billable-call.ts';
import { PROVIDERS } from '../../src/providers/registry.ts';
import { modelNamesOf, readModelOfBody } from '../../src/proxy/read-requested-model.ts';
import { readServedTerms } from '../../src/proxy/served-terms.ts';
import { countPrompt, type ReportedUsage, type TokenUsage } from '../../src/vocabulary/token-usage.ts';
import { type CostCase, readCostCases, toQuoteInput } from './cost-cases.ts';
import { type Fixture, listFixtures, requestBody } from './fixtures.ts';
import { findEndpoint, readFixture } from './read-fixture.ts';

export interface AskedAndEnded {
  readonly name: string;
  readonly asked: AskedCall;
  readonly begin: BilledBegin;
  readonly end: BilledEnd;
}

export function promptOf(usage: TokenUsage | null): number {
  return countPrompt(usage?.classes ?? {});
}

/** Sound has more bytes for a token, and for a millisecond. */
const BYTES_OF_SOUND_TOKEN = 40;

function bytesFor(usage: TokenUsage | null, bytesForToken: number): number {
  const { input_audio = 0, input_audio_ms = 0 } = usage?.classes ?? {};
  return Math.ceil(promptOf(usage) * bytesForToken) + input_audio * BYTES_OF_SOUND_TOKEN + input_audio_ms;
}

/** Worked answers report longer prompts than their made-up requests have. */
function pad(body: Buffer, bytes: number): Buffer {
  if (bytes > body.length && body[0] !== 123) return Buffer.concat([body, Buffer.alloc(bytes - body.length, ' ')]);
  return body[0] === 123 && bytes > body.length
    ? Buffer.concat([body.subarray(0, 1), Buffer.alloc(bytes - body.length, ' '), body.subarray(1)])
    : body;
}

export function askedOfFixture(
  fixture: Fixture,
  reported: ReportedUsage,
  sentUsage: TokenUsage | null,
  bytesForToken: number,
): AskedAndEnded {
  const endpoint = findEndpoint(fixture);
  const provider = PROVIDERS[fixture.provider];
  const [path = '', query = ''] = fixture.request.path.split('?');
  const region =
    provider.region({
      method: fixture.request.method,
      path: provider.mapPath(path),
      query,
      header: (name) => fixture.request.headers[name],
    }) ?? provider.defaultRegion;
  const contentType = fixture.request.headers['content-type'] ?? null;
  const body = pad(requestBody(fixture), bytesFor(reported.usage, bytesForToken));
  const requested = readModelOfBody(contentType, body, body.length, { modelNames: modelNamesOf(endpoint) });
  const modelRequested = endpoint.model.in === 'path' ? endpoint.model.name : requested.model;
  const use = readBilledUsage(reported, {
    fetchesResult: endpoint.fetchesResult === true,
    isFinishedByPath: endpoint.resultId !== undefined,
    isComplete: true,
    sentUsage,
    status: fixture.status,
  });
  const requestedAtMs = Date.UTC(2026, 10, 28, 12);
  return {
    name: `${fixture.provider}/${fixture.name}`,
    asked: {
      provider: fixture.provider,
      providerAlias: null,
      endpoint,
      region,
      requestedAtMs,
      modelRequested,
      contentType,
      body: body.length === 0 ? 'none' : body,
    },
    begin: {
      provider: fixture.provider,
      providerAlias: null,
      endpoint: endpoint.family,
      billed: endpoint.billed,
      requestedAtMs,
      region,
      isBatch: endpoint.isBatch,
    },
    end: {
      model: reported.model,
      modelRequested,
      ...readServedTerms(provider, requested, null, reported, use.usage !== null),
      outcome: fixture.status < 400 ? 'ok' : 'upstream_error',
      status: fixture.status,
      errorType: null,
      usage: use.usage,
      usageSource: use.usageSource,
      flags: use.isLater ? ['usage_later'] : [],
      ...(use.billedOnceAs === null ? {} : { billedOnceAs: use.billedOnceAs }),
    },
  };
}

/** A request that could have caused the case's usage: as long as its prompt, and with its answer's length as the maximum. */
export function askedOfCase(costCase: CostCase, bytesForToken: number): AskedAndEnded {
  const input = toQuoteInput(costCase);
  const { quoted, reported, use } = readNative(input);
  const { endpoint, region, modelRequested } = quoted;
  const classes = use.usage?.classes ?? {};
  const output = (classes.output ?? 0) + (classes.output_audio ?? 0) + (classes.output_image ?? 0);
  const searches =
    (classes.web_search_requests ?? 0) + (classes.file_search_requests ?? 0) + (classes.code_execution_requests ?? 0);
  const written = {
    model: modelRequested,
    max_tokens: Math.max(1, output),
    ...(endpoint.format === 'generate-content' ? { generationConfig: { maxOutputTokens: Math.max(1, output) } } : {}),
    ...(reported.serviceTier === null ? {} : { service_tier: reported.serviceTier }),
    ...(reported.speed === null ? {} : { speed: reported.speed }),
    ...(reported.inferenceGeo === null ? {} : { inference_geo: reported.inferenceGeo }),
    ...(searches === 0 ? {} : { tools: [{ type: 'web_search', max_uses: searches }] }),
    ...((classes.grounded_prompts ?? 0) + (classes.maps_requests ?? 0) === 0 ? {} : { tools: [{ googleSearch: {} }] }),
    ...(costCase.context.n === undefined ? {} : { n: costCase.context.n }),
    ...(costCase.context.size === undefined ? {} : { size: costCase.context.size }),
    ...(costCase.context.quality === undefined ? {} : { quality: costCase.context.quality }),
    ...((classes.output_audio ?? 0) === 0 ? {} : { modalities: ['text', 'audio'] }),
    ...((classes.input_audio ?? 0) === 0 ? {} : { parts: [{ type: 'input_audio' }] }),
    ...((classes.cache_creation_1h ?? 0) === 0 ? {} : { system: [{ cache_control: { ttl: '1h' } }] }),
    ...((classes.cache_creation_5m ?? 0) === 0 ? {} : { messages: [{ cache_control: {} }] }),
    ...((classes.cache_creation_12h ?? 0) === 0 ? {} : { prompt_cache_retention: '12h' }),
    ...(costCase.context.input_characters === undefined
      ? {}
      : { input: 'x'.repeat(costCase.context.input_characters) }),
  };
  const body = pad(Buffer.from(JSON.stringify(written)), bytesFor(use.usage, bytesForToken));
  const requestedAtMs = input.requestedAtMs;
  return {
    name: costCase.id,
    asked: {
      provider: input.provider,
      providerAlias: null,
      endpoint,
      region,
      requestedAtMs,
      modelRequested,
      contentType: 'application/json',
      body,
    },
    begin: {
      provider: input.provider,
      providerAlias: null,
      endpoint: endpoint.family,
      billed: endpoint.billed,
      requestedAtMs,
      region,
      isBatch: endpoint.isBatch || costCase.context.batch === true,
    },
    end: {
      model: reported.model,
      modelRequested,
      serviceTier: reported.serviceTier,
      speed: reported.speed,
      inferenceGeo: reported.inferenceGeo,
      outcome: 'ok',
      status: 200,
      errorType: null,
      usage: use.usage,
      usageSource: use.usageSource,
      flags: use.isLater ? ['usage_later'] : [],
    },
  };
}

/** All recorded answers and worked cases. */
export async function listAskedCalls(): Promise<readonly AskedAndEnded[]> {
  const recorded = await Promise.all(
    listFixtures().map(async (fixture) => {
      const reported = await readFixture(fixture, [fixture.body]);
      return askedOfFixture(fixture, reported, createSentQueries(fixture.request.body), 1);
    }),
  );
  const worked = (['cost-cases', 'own-cases'] as const).flatMap((name) =>
    readCostCases(name).map((one) => askedOfCase(one, 1)),
  );
  return [...recorded, ...worked];
}
