/** The price catalog over HTTP: import a file, restore the bundled one, look at the feed. */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { describeRefusals } from '../../prices/declared/check-feed.ts';
import { type AdminDeps, requireDatabase } from '../admin-deps.ts';
import { ApiError } from '../api-error.ts';
import { type CatalogImport, CatalogImportBody, formatCatalogImport } from '../catalog-import-body.ts';
import { accountOf } from '../principal.ts';
import { readActor } from '../read-actor.ts';
import { COMMON_ERRORS, errorAnswer, jsonAnswer, Time } from '../schemas.ts';

export const CATALOG_PATH = '/api/v1/prices/catalog';
const DAY_MS = 86_400_000;

const Flag = z
  .enum(['true', 'false'])
  .default('false')
  .transform((text) => text === 'true');

const ImportQuery = z.strictObject({
  name: z
    .string()
    .min(1)
    .max(300)
    .regex(/^\P{Cc}*$/u, 'without control characters')
    .describe('What it is called in the sources of prices: the name of the file'),
  checked_on: z.iso
    .date('write a day such as 2026-11-28')
    .optional()
    .describe('Day on which its prices held, e.g. 2026-11-28; else today'),
  accept_changes: Flag.describe('Take over what looks wrong, too; never a file that cannot be read'),
  dry_run: Flag.describe('Only say what would change'),
});

function readDay(given: string | undefined, nowMs: number): string {
  const today = new Date(nowMs).toISOString().slice(0, 10);
  // Half the world is a day ahead.
  const latest = new Date(nowMs + DAY_MS).toISOString().slice(0, 10);
  if (given !== undefined && given > latest)
    throw new ApiError(400, 'invalid_request', `checked_on: ${given} is in the future.`);
  return given ?? today;
}

async function importFile(c: Context, deps: AdminDeps, query: z.infer<typeof ImportQuery>): Promise<CatalogImport> {
  const pool = requireDatabase(deps);
  const { name, accept_changes: acceptsChanges, dry_run: isDryRun } = query;
  const bytes = new Uint8Array(await c.req.arrayBuffer());
  const file = { name, origin: 'file', checkedOn: readDay(query.checked_on, deps.nowMs()), bytes } as const;
  const outcome = isDryRun
    ? await deps.catalogs.test(pool, file, acceptsChanges)
    : await deps.catalogs.import(pool, file, { actor: readActor(c), acceptsChanges });
  if (outcome.kind === 'unreadable')
    throw new ApiError(
      400,
      'catalog_unreadable',
      `The file is no price catalog: ${outcome.problem}. The prices in use stay.`,
    );
  if (outcome.kind === 'outdated')
    throw new ApiError(
      409,
      'catalog_outdated',
      `The file would not be used: ${outcome.problem}. If its prices are newer, say so with checked_on.`,
    );
  if (outcome.kind === 'refused' && !isDryRun)
    throw new ApiError(
      409,
      'catalog_refused',
      `The prices in use stay, since ${outcome.refusals.length === 1 ? 'one thing looks' : `${outcome.refusals.length} things look`} wrong:\n${describeRefusals(outcome.refusals)}`,
    );
  await deps.prices.refresh(pool);
  return formatCatalogImport(outcome, isDryRun, deps.prices.book(accountOf(c)).version);
}

export const FeedLook = {
  checked_at: Time.nullable().describe('Last look; null: never'),
  result: z
    .enum(['unchanged', 'activated', 'refused', 'failed'])
    .nullable()
    .describe('What came of it: `refused` looks wrong, `failed` did not come; either way the prices in use stayed'),
  detail: z.string().nullable().describe('Why it was refused or failed, line by line'),
} as const;

export function addPriceCatalogRoutes(app: OpenAPIHono, deps: AdminDeps): void {
  const load = createRoute({
    method: 'post',
    path: CATALOG_PATH,
    summary: 'Import a price catalog in the form that genai-prices publishes (v2), at most 8 MiB',
    request: {
      query: ImportQuery,
      // Its exact bytes are needed, so nothing may parse it.
      body: {
        required: true,
        content: { 'application/octet-stream': { schema: z.any().openapi({ type: 'string' }) } },
      },
    },
    responses: {
      200: jsonAnswer(CatalogImportBody, 'It prices every call from now on; of a dry run: what would change'),
      409: errorAnswer('It looks wrong, or is older than the bundled one; the message says why'),
      413: errorAnswer('The file is too large'),
      ...COMMON_ERRORS,
    },
  });
  app.openapi(load, async (c) => c.json(await importFile(c, deps, c.req.valid('query')), 200));

  const read = createRoute({
    method: 'get',
    path: CATALOG_PATH,
    summary: 'The price catalog in use, in the form that an import takes',
    responses: {
      200: jsonAnswer(z.array(z.any()).openapi({ type: 'array' }), 'Providers with their models and prices'),
      ...COMMON_ERRORS,
    },
  });
  app.openapi(read, async (c) => c.json([...(await deps.catalogs.export(requireDatabase(deps)))], 200));

  const reset = createRoute({
    method: 'delete',
    path: CATALOG_PATH,
    summary: 'Back to the price catalog that comes with the gateway; again changes nothing',
    responses: {
      200: jsonAnswer(
        z.object({ outcome: z.enum(['activated', 'unchanged']), price_version: z.string() }),
        'The bundled one is in use',
      ),
      ...COMMON_ERRORS,
    },
  });
  app.openapi(reset, async (c) => {
    const pool = requireDatabase(deps);
    const isChanged = await deps.catalogs.reset(pool, readActor(c));
    await deps.prices.refresh(pool);
    const outcome = isChanged ? ('activated' as const) : ('unchanged' as const);
    return c.json({ outcome, price_version: deps.prices.book(accountOf(c)).version }, 200);
  });

  const look = createRoute({
    method: 'post',
    path: '/api/v1/prices/feed/fetch',
    summary: 'Look at the price feed now, also when its content was looked at before',
    request: { query: z.strictObject({ accept_changes: Flag.describe('Take over what looks wrong, too') }) },
    responses: {
      200: jsonAnswer(z.object({ ...FeedLook, price_version: z.string() }), 'What came of it'),
      409: errorAnswer('The feed is off, or another process looks at it right now'),
      ...COMMON_ERRORS,
    },
  });
  app.openapi(look, async (c) => {
    const pool = requireDatabase(deps);
    const { accept_changes: acceptsChanges } = c.req.valid('query');
    const state = await deps.catalogs.lookAtFeed(pool, { actor: readActor(c), acceptsChanges }, true);
    if (state === 'off')
      throw new ApiError(
        409,
        'feed_off',
        'The price feed is off; TOLLGATE_PRICE_FEED=on turns it on at the next start.',
      );
    if (state === 'busy')
      throw new ApiError(409, 'feed_busy', 'The price feed is being looked at right now; ask again in a moment.');
    await deps.prices.refresh(pool);
    const { checkedAt, result, detail } = state;
    const checked_at = checkedAt?.toISOString() ?? null;
    return c.json({ checked_at, result, detail, price_version: deps.prices.book(accountOf(c)).version }, 200);
  });
}
