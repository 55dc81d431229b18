/** The state of the prices: source, age, gaps and advice. */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';
import type pg from 'pg';
import { type CatalogFacts, readActiveFacts } from '../../prices/declared/catalog-in-use.ts';
import { type FeedState, readFeedState } from '../../prices/declared/check-feed.ts';
import {
  chooseCatalog,
  countAgeDays,
  countDeclarations,
  readBundledFacts,
  readOverlayFacts,
  readUnpricedFacts,
  STALE_DAYS,
  UNPRICED_DAYS,
  type UnpricedFacts,
} from '../../prices/declared/price-status.ts';
import { type AdminDeps, requireDatabase } from '../admin-deps.ts';
import { createPacedQuery } from '../paced-query.ts';
import { accountOf } from '../principal.ts';
import { COMMON_ERRORS, jsonAnswer, Time } from '../schemas.ts';
import { FeedLook } from './prices-catalog-resource.ts';

const Day = z.string().describe('e.g. 2026-11-28');

const CatalogBody = z.object({
  origin: z.enum(['bundled', 'file', 'feed']),
  name: z.string(),
  checked_on: Day,
  age_days: z.number().int(),
  models: z.number().int().describe('Of the providers that the gateway knows'),
  sha256: z.string().nullable().describe('Of the file; null of the bundled one'),
});

const PriceStatusBody = z
  .object({
    price_version: z.string(),
    catalog: CatalogBody.describe('The one in use'),
    bundled: CatalogBody.describe('The one that comes with this gateway'),
    overlay: z.object({
      rows: z.number().int().describe('Prices and rules that come with the gateway, above every catalog'),
      checked_on: Day,
    }),
    declarations: z
      .object({ overrides: z.number().int(), mappings: z.number().int(), multipliers: z.number().int() })
      .describe('By the operator, above everything else'),
    unpriced: z
      .object({ calls: z.number().int(), models: z.number().int(), since: Time })
      .describe('Of the last 30 days, as in `/prices/unpriced`'),
    feed: z.object({ setting: z.string().describe('`off`, `on` or an address'), ...FeedLook }),
    warnings: z.array(z.string()).describe('What needs attention, each with what to do; empty when all is well'),
  })
  .openapi('PriceStatus');
export type PriceStatus = z.infer<typeof PriceStatusBody>;

function withAge(catalog: CatalogFacts, nowMs: number) {
  return { ...catalog, age_days: countAgeDays(catalog.checked_on, nowMs) };
}

function* listWarnings(
  ageDays: number,
  problem: string | null,
  unpriced: UnpricedFacts,
  feed: FeedState,
  isFeedOn: boolean,
): Generator<string> {
  if (problem !== null) yield `${problem}; \`tollgate prices reset\` forgets the import, a newer one replaces it`;
  if (ageDays > STALE_DAYS)
    yield `the price catalog is ${ageDays} days old; import a newer one (\`tollgate prices import FILE\`), or bring the gateway up to date`;
  if (unpriced.calls > 0)
    yield `${unpriced.calls} calls of the last ${UNPRICED_DAYS} days have no price, or only a part of one; \`tollgate costs unpriced\` lists their models`;
  if (isFeedOn && feed.result === 'refused')
    yield 'the price feed looks wrong, and the prices in use stay; if it is right, `tollgate prices fetch --accept` takes it over';
  if (isFeedOn && feed.result === 'failed') yield `the price feed did not come: ${feed.detail ?? 'unknown'}`;
}

type ReadUnpriced = (pool: pg.Pool, accountId: number) => Promise<UnpricedFacts>;

async function readStatus(deps: AdminDeps, accountId: number, readUnpriced: ReadUnpriced): Promise<PriceStatus> {
  const pool = requireDatabase(deps);
  const nowMs = deps.nowMs();
  await deps.prices.refresh(pool);
  const [active, declarations, unpriced, feed] = await Promise.all([
    readActiveFacts(pool),
    countDeclarations(pool, accountId),
    readUnpriced(pool, accountId),
    readFeedState(pool),
  ]);
  const { inUse, problem } = chooseCatalog(active, deps.prices.problem());
  const catalog = withAge(inUse, nowMs);
  const setting = deps.catalogs.feedSetting;
  return {
    price_version: deps.prices.book(accountId).version,
    catalog,
    bundled: withAge(readBundledFacts(), nowMs),
    overlay: readOverlayFacts(),
    declarations,
    unpriced,
    feed: {
      setting,
      checked_at: feed.checkedAt?.toISOString() ?? null,
      result: feed.result,
      detail: feed.detail,
    },
    warnings: [...listWarnings(catalog.age_days, problem, unpriced, feed, setting !== 'off')],
  };
}

export const pricesStatusRoute = createRoute({
  method: 'get',
  path: '/api/v1/prices/status',
  summary: 'How fresh the prices are, and what they do not cover',
  responses: { 200: jsonAnswer(PriceStatusBody, 'As of now'), ...COMMON_ERRORS },
});

export function addPriceStatusRoute(app: OpenAPIHono, deps: AdminDeps): void {
  // It reads every call without a price, perhaps a million.
  const readUnpriced = createPacedQuery((pool, accountId) =>
    readUnpricedFacts(pool, accountId, deps.prices.book(accountId), deps.nowMs()),
  );
  app.openapi(pricesStatusRoute, async (c) => c.json(await readStatus(deps, accountOf(c), readUnpriced), 200));
}
