/** Activates another catalog or resets to the bundled one, each in one transaction. */
import { createHash } from 'node:crypto';
import type pg from 'pg';
import { BUNDLED_CATALOG } from '../../../pricing/catalog.ts';
import { listYieldingDays } from '../../../pricing/overlay-prices.ts';
import { type ParsedCatalog, parseCatalog } from '../../../pricing/parse-catalog.ts';
import { inTransaction } from '../../store/pool.ts';
import {
  CATALOG_FACTS,
  type CatalogFacts,
  describeOutdated,
  readActiveFacts,
  readCatalogInUse,
} from './catalog-in-use.ts';
import type { CatalogChanges } from './compare-catalogs.ts';
import { judgeCatalog, type Refusal } from './judge-catalog.ts';
import { insertPriceChange, type NewPriceChange } from './price-changes.ts';

export const MAX_CATALOG_BYTES = 8 * 1024 * 1024;

export interface CatalogFile {
  readonly name: string;
  readonly origin: 'file' | 'feed';
  readonly checkedOn: string;
  readonly bytes: Uint8Array;
}

export interface ImportOptions {
  readonly accountId: number;
  readonly actor: string;
  readonly acceptsChanges: boolean;
}

/** `refusals` of an activated catalog were accepted. */
export type ImportOutcome =
  | { readonly kind: 'unreadable'; readonly problem: string }
  | { readonly kind: 'outdated'; readonly problem: string }
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'refused' | 'activated'; readonly changes: CatalogChanges; readonly refusals: readonly Refusal[] };

const KEPT_CATALOGS = 5;
const LOCK_LIMIT_MS = 10_000;
const MAX_AUDITED_REFUSALS = 20;

type Readable = Extract<ParsedCatalog, { readonly isOk: true }> & { readonly text: string; readonly sha256: Buffer };
type Unusable = Extract<ImportOutcome, { readonly kind: 'unreadable' | 'outdated' }>;

function decode(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

function readFile({ name, checkedOn, bytes }: CatalogFile): Readable | Unusable {
  if (bytes.byteLength > MAX_CATALOG_BYTES)
    return { kind: 'unreadable', problem: `it has more than ${MAX_CATALOG_BYTES} bytes` };
  const text = decode(bytes);
  if (text === null) return { kind: 'unreadable', problem: 'it is not UTF-8 text' };
  const parsed = parseCatalog(text, name, checkedOn);
  if (!parsed.isOk) return { kind: 'unreadable', problem: parsed.problem };
  const outdated = describeOutdated(name, checkedOn);
  if (outdated !== null) return { kind: 'outdated', problem: outdated };
  return { ...parsed, text, sha256: createHash('sha256').update(bytes).digest() };
}

/** A dry run of an import. */
export async function tryCatalog(pool: pg.Pool, file: CatalogFile, acceptsChanges: boolean): Promise<ImportOutcome> {
  const readable = readFile(file);
  if ('kind' in readable) return readable;
  return decide(pool, readable, acceptsChanges);
}

async function decide(
  client: pg.ClientBase | pg.Pool,
  { data, sha256 }: Readable,
  acceptsChanges: boolean,
): Promise<ImportOutcome> {
  const active = await readActiveFacts(client);
  const { data: current, problem } = await readCatalogInUse(client);
  if (active?.sha256 === sha256.toString('hex') && problem === null) return { kind: 'unchanged' };
  // Loaded on demand, since most gateways never import a catalog.
  const { readGoldenCosts } = await import('./golden-costs.ts');
  const { changes, refusals } = judgeCatalog(current, data, readGoldenCosts());
  return { kind: refusals.length > 0 && !acceptsChanges ? 'refused' : 'activated', changes, refusals };
}

/** Changes of prices wait for each other; batches of calls do not. */
async function lockPrices(client: pg.ClientBase): Promise<void> {
  await client.query(`set local lock_timeout = ${LOCK_LIMIT_MS}`);
  await client.query('select version from price_book_version for update');
}

async function noteChange(
  client: pg.ClientBase,
  { accountId, actor }: ImportOptions,
  change: Pick<NewPriceChange, 'action' | 'summary' | 'before' | 'after'>,
): Promise<void> {
  await insertPriceChange(client, { accountId, actor, subject: 'catalog', ...change });
  await client.query('update price_book_version set version = version + 1');
}

async function activate(
  client: pg.ClientBase,
  file: CatalogFile,
  { text, sha256, models }: Readable,
): Promise<CatalogFacts | null> {
  await client.query('update price_catalogs set is_active = false where is_active');
  const { rows } = await client.query<CatalogFacts>(
    `insert into price_catalogs (name, origin, sha256, checked_on, models, content, is_active)
     values ($1, $2, $3, $4, $5, $6, true)
     on conflict (sha256) do update set name = excluded.name, origin = excluded.origin,
       checked_on = excluded.checked_on, models = excluded.models, is_active = true, imported_at = now()
     returning ${CATALOG_FACTS}`,
    [file.name, file.origin, sha256, file.checkedOn, models, text],
  );
  await client.query(
    `delete from price_catalogs where not is_active and id not in
       (select id from price_catalogs where not is_active order by imported_at desc, id desc limit ${KEPT_CATALOGS})`,
  );
  return rows[0] ?? null;
}

function summarise({ name, checkedOn }: CatalogFile, { added, lost, rates }: CatalogChanges): string {
  return `catalog ${name} of ${checkedOn}: ${added.length} ${added.length === 1 ? 'model' : 'models'} added, ${lost.length} lost, ${rates.length} ${rates.length === 1 ? 'rate' : 'rates'} changed`;
}

/** Prices in use are known to hold on this day, too. Those that yield to a catalog of the day are then priced otherwise. */
async function holdAlsoOn(client: pg.ClientBase, day: string, options: ImportOptions): Promise<void> {
  const before = await readActiveFacts(client);
  if (before === null || before.checked_on >= day) return;
  await client.query('update price_catalogs set checked_on = $1 where is_active', [day]);
  const wasUsed = describeOutdated(before.name, before.checked_on) === null;
  if (wasUsed && listYieldingDays(before.checked_on).join() === listYieldingDays(day).join()) return;
  await noteChange(client, options, {
    action: 'replaced',
    summary: `catalog ${before.name} held on ${day}, too, and not only on ${before.checked_on}: ${wasUsed ? 'older prices beside it yield' : 'it is used again'}`,
    before,
    after: { ...before, checked_on: day },
  });
}

/** As an import of the same file, where the feed says that nothing has changed. */
export function holdFeedAlsoOn(pool: pg.Pool, day: string, options: ImportOptions): Promise<void> {
  return inTransaction(pool, async (client) => {
    await lockPrices(client);
    const active = await readActiveFacts(client);
    if (active?.origin === 'feed') await holdAlsoOn(client, day, options);
  });
}

/** Rejects only for the database. */
export async function importCatalog(pool: pg.Pool, file: CatalogFile, options: ImportOptions): Promise<ImportOutcome> {
  const readable = readFile(file);
  if ('kind' in readable) return readable;
  return inTransaction(pool, async (client) => {
    await lockPrices(client);
    const before = await readActiveFacts(client);
    const outcome = await decide(client, readable, options.acceptsChanges);
    if (outcome.kind === 'unchanged') await holdAlsoOn(client, file.checkedOn, options);
    if (outcome.kind !== 'activated') return outcome;
    const after = await activate(client, file, readable);
    const accepted = outcome.refusals.slice(0, MAX_AUDITED_REFUSALS).map((refusal) => refusal.text);
    await noteChange(client, options, {
      action: 'activated',
      summary: summarise(file, outcome.changes),
      before: before ?? { name: BUNDLED_CATALOG.name, origin: 'bundled', checked_on: BUNDLED_CATALOG.checkedOn },
      after: { ...after, ...(accepted.length > 0 ? { accepted } : {}) },
    });
    return outcome;
  });
}

/** False when the bundled catalog is already in use. */
export function resetCatalog(pool: pg.Pool, options: ImportOptions): Promise<boolean> {
  return inTransaction(pool, async (client) => {
    await lockPrices(client);
    const before = await readActiveFacts(client);
    if (before === null) return false;
    await client.query('update price_catalogs set is_active = false where is_active');
    await noteChange(client, options, {
      action: 'removed',
      summary: `back from ${before.name} to the catalog that comes with the gateway, ${BUNDLED_CATALOG.name}`,
      before,
      after: null,
    });
    return true;
  });
}
