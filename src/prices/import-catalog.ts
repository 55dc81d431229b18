/**
 * Puts another catalogue in the place of the one in use, or the bundled one back, each in one transaction: what is active
 * is the catalogue before or one that passed. Decides nothing itself about prices (`judge-catalog.ts`).
 */
import { createHash } from 'node:crypto';
import type pg from 'pg';
import { BUNDLED_CATALOG } from '../pricing/catalog.ts';
import { inTransaction } from '../store/pool.ts';
import { readAnchorCases } from './anchor-cases.ts';
import { describeOutdated, readCatalogInUse } from './catalog-in-use.ts';
import type { CatalogChanges } from './compare-catalogs.ts';
import { judgeCatalog, type Refusal } from './judge-catalog.ts';
import { type ParsedCatalog, parseCatalog } from './parse-catalog.ts';
import { insertPriceChange, type NewPriceChange } from './price-changes.ts';

export const MAX_CATALOG_BYTES = 8 * 1024 * 1024;

export interface CatalogFile {
  readonly name: string;
  readonly origin: 'file' | 'feed';
  /** ISO date. */
  readonly checkedOn: string;
  readonly bytes: Uint8Array;
}

export interface ImportOptions {
  readonly accountId: number;
  readonly actor: string;
  /** What looks wrong is taken over all the same. */
  readonly acceptsChanges: boolean;
}

/** `refusals` of a catalogue that is active now were accepted. */
export type ImportOutcome =
  | { readonly kind: 'unreadable'; readonly problem: string }
  | { readonly kind: 'outdated'; readonly problem: string }
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'refused' | 'activated'; readonly changes: CatalogChanges; readonly refusals: readonly Refusal[] };

/** Besides the active one. */
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

interface StoredFacts {
  readonly name: string;
  readonly origin: string;
  readonly sha256: string;
  readonly checked_on: string;
  readonly models: number;
}

const STORED_FACTS = "name, origin, encode(sha256, 'hex') as sha256, checked_on::text, models";

async function readActive(client: pg.ClientBase | pg.Pool): Promise<StoredFacts | null> {
  const { rows } = await client.query<StoredFacts>(`select ${STORED_FACTS} from price_catalogs where is_active`);
  return rows[0] ?? null;
}

function bundledFacts() {
  return { name: BUNDLED_CATALOG.name, origin: 'bundled', checked_on: BUNDLED_CATALOG.checkedOn };
}

/** Looks at it as an import would, and changes nothing. */
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
  const active = await readActive(client);
  const { data: current, problem } = await readCatalogInUse(client);
  if (active?.sha256 === sha256.toString('hex') && problem === null) return { kind: 'unchanged' };
  const { changes, refusals } = judgeCatalog(current, data, readAnchorCases());
  return { kind: refusals.length > 0 && !acceptsChanges ? 'refused' : 'activated', changes, refusals };
}

/** Whoever changes prices waits for who does so now; batches of calls do not. */
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
): Promise<StoredFacts | null> {
  await client.query('update price_catalogs set is_active = false where is_active');
  const { rows } = await client.query<StoredFacts>(
    `insert into price_catalogs (name, origin, sha256, checked_on, models, content, is_active)
     values ($1, $2, $3, $4, $5, $6, true)
     on conflict (sha256) do update set name = excluded.name, origin = excluded.origin,
       checked_on = excluded.checked_on, models = excluded.models, is_active = true, imported_at = now()
     returning ${STORED_FACTS}`,
    [file.name, file.origin, sha256, file.checkedOn, models, text],
  );
  await client.query(
    `delete from price_catalogs where not is_active and id not in
       (select id from price_catalogs where not is_active order by imported_at desc, id desc limit ${KEPT_CATALOGS})`,
  );
  return rows[0] ?? null;
}

function summarise({ name, checkedOn }: CatalogFile, { added, lost, rates }: CatalogChanges): string {
  return `catalogue ${name} of ${checkedOn}: ${added.length} ${added.length === 1 ? 'model' : 'models'} added, ${lost.length} lost, ${rates.length} ${rates.length === 1 ? 'rate' : 'rates'} changed`;
}

/** Rejects only for the database. */
export async function importCatalog(pool: pg.Pool, file: CatalogFile, options: ImportOptions): Promise<ImportOutcome> {
  const readable = readFile(file);
  if ('kind' in readable) return readable;
  return inTransaction(pool, async (client) => {
    await lockPrices(client);
    const before = await readActive(client);
    const outcome = await decide(client, readable, options.acceptsChanges);
    // The same prices, and now it is known that they hold on this day, too. No call's price depends on it.
    if (outcome.kind === 'unchanged')
      await client.query('update price_catalogs set checked_on = greatest(checked_on, $1) where is_active', [
        file.checkedOn,
      ]);
    if (outcome.kind !== 'activated') return outcome;
    const after = await activate(client, file, readable);
    const accepted = outcome.refusals.slice(0, MAX_AUDITED_REFUSALS).map((refusal) => refusal.text);
    await noteChange(client, options, {
      action: 'activated',
      summary: summarise(file, outcome.changes),
      before: before ?? bundledFacts(),
      after: { ...after, ...(accepted.length > 0 ? { accepted } : {}) },
    });
    return outcome;
  });
}

/** Back to the bundled one. False when that is in use already. */
export function resetCatalog(pool: pg.Pool, options: ImportOptions): Promise<boolean> {
  return inTransaction(pool, async (client) => {
    await lockPrices(client);
    const before = await readActive(client);
    if (before === null) return false;
    await client.query('update price_catalogs set is_active = false where is_active');
    await noteChange(client, options, {
      action: 'removed',
      summary: `back from ${before.name} to the catalogue that comes with the gateway, ${BUNDLED_CATALOG.name}`,
      before,
      after: null,
    });
    return true;
  });
}
