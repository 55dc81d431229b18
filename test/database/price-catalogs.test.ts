/** Imported catalogs over a real database: what is active is the one before or one that passed. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import fc from 'fast-check';
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { createGatewayClient } from '../../src/cli/gateway-client.ts';
import { addCatalogCommands } from '../../src/cli/prices/catalog-commands.ts';
import { declareAll, readDeclarations } from '../../src/cli/prices/import-declarations.ts';
import { createCurrentPriceBook } from '../../src/control/prices/declared/current-price-book.ts';
import {
  type CatalogFile,
  type ImportOutcome,
  importCatalog,
  resetCatalog,
  tryCatalog,
} from '../../src/control/prices/declared/import-catalog.ts';
import { readUnpricedFacts } from '../../src/control/prices/declared/price-status.ts';
import { BUNDLED_CATALOG } from '../../src/pricing/catalog.ts';
import { parseCatalog } from '../../src/pricing/parse-catalog.ts';
import { formatUsd } from '../../src/vocabulary/usd.ts';
import { ADMIN_TOKEN, type AdminDatabase, endedCall, startAdminDatabase, tokens } from '../support/admin-database.ts';
import { billableCall } from '../support/billable-call.ts';
import { NOON_MS } from '../support/call-fixtures.ts';
import { catalogText, changedCatalogText } from '../support/catalog-text.ts';
import { POSTGRES_KINDS } from '../support/postgres.ts';

const DAY_MS = 86_400_000;
const FLASH_LITE = 'gemini-2.0-flash-lite"},"context_window":1000000,"prices":{"input_mtok":';
/** One rate is another: $0.075 a million is $0.0825. */
const RAISED = changedCatalogText([`${FLASH_LITE}0.075`, `${FLASH_LITE}0.0825`]);
const FREE = changedCatalogText([`${FLASH_LITE}0.075`, `${FLASH_LITE}0`]);
const CODEX = '"equals":"gpt-5-3-codex"}]},"context_window":400000,"prices":{"input_mtok":';
const CHEAPER_CODEX = changedCatalogText([`${CODEX}1.75,`, `${CODEX}1.25,`]);
const { name: BUNDLED_NAME, checkedOn: BUNDLED_ON } = BUNDLED_CATALOG;
const OUTDATED = `the imported catalog data.json is of 2020-01-01, older than the one that comes with this gateway (${BUNDLED_ON}), which is used instead`;
const BUNDLED_VERSION = createCurrentPriceBook().book(1).version;

function fileOf(text: string, changes: Partial<CatalogFile> = {}): CatalogFile {
  return { name: 'data.json', origin: 'file', checkedOn: '2030-01-02', bytes: Buffer.from(text), ...changes };
}

const OPTIONS = { accountId: 1, actor: 'test', acceptsChanges: false };

function problemOf(outcome: ImportOutcome): string {
  return 'problem' in outcome ? `${outcome.kind}: ${outcome.problem}` : outcome.kind;
}

function refusalsOf(outcome: ImportOutcome): readonly string[] {
  return 'refusals' in outcome ? outcome.refusals.map(({ text }) => text) : [problemOf(outcome)];
}

describe.each(POSTGRES_KINDS)('on $name', (kind) => {
  let database: AdminDatabase;
  let pool: pg.Pool;
  beforeAll(async () => {
    database = await startAdminDatabase(kind);
    pool = database.pool;
  });
  afterAll(() => database.stop());
  beforeEach(async () => {
    await pool.query('truncate price_catalogs, price_changes');
    await pool.query('update price_book_version set version = version + 1');
  });

  const listCatalogs = async () => {
    const { rows } = await pool.query<{ name: string; active: boolean }>(
      'select name, is_active as active from price_catalogs order by id',
    );
    return rows.map(({ name, active }) => (active ? `${name} (active)` : name));
  };
  const listChanges = async () => {
    const { rows } = await pool.query<{ actor: string; action: string; summary: string }>(
      'select actor, action, summary from price_changes order by id',
    );
    return rows.map(({ actor, action, summary }) => `${actor} ${action}: ${summary}`);
  };
  const readVersion = async () => {
    const { rows } = await pool.query<{ version: number }>('select version from price_book_version');
    return rows[0]?.version ?? 0;
  };
  /** What 1,000,000 tokens of input cost now, and by which row. */
  const askPrice = async () => {
    const prices = createCurrentPriceBook();
    await prices.refresh(pool);
    const { totalCost, lines } = prices.book(1).priceCall(
      billableCall({
        provider: 'gemini',
        endpoint: 'generate_content',
        requestedAtMs: Date.UTC(2026, 10, 28),
        model: 'gemini-2.0-flash-lite',
        modelRequested: null,
        usage: tokens(1_000_000, 0),
      }),
    );
    return { cost: totalCost === null ? null : formatUsd(totalCost), row: lines[0]?.row, problem: prices.problem() };
  };

  it('an imported catalog prices the next call, to the last published decimal, and the way back is one step', async () => {
    const version = await readVersion();
    expect(await askPrice()).toMatchObject({ cost: '0.075' });
    const outcome = await importCatalog(pool, fileOf(RAISED), OPTIONS);
    expect(outcome).toMatchObject({
      kind: 'activated',
      changes: {
        added: [],
        lost: [],
        rates: [{ provider: 'gemini', model: 'gemini-2.0-flash-lite', usageClass: 'input' }],
      },
      refusals: [],
    });
    expect(await askPrice()).toMatchObject({ cost: '0.0825', row: 'catalog/gemini/gemini-2.0-flash-lite/input' });
    expect(await readVersion()).toBe(version + 1);

    expect(await resetCatalog(pool, OPTIONS)).toBe(true);
    expect(await askPrice()).toMatchObject({ cost: '0.075' });
    expect(await resetCatalog(pool, OPTIONS)).toBe(false);
    expect(await readVersion()).toBe(version + 2);
    expect(await listChanges()).toEqual([
      'test activated: catalog data.json of 2030-01-02: 0 models added, 0 lost, 1 rate changed',
      `test removed: back from data.json to the catalog that comes with the gateway, ${BUNDLED_NAME}`,
    ]);
  });

  it('importing what is active changes nothing but the day on which it held', async () => {
    await importCatalog(pool, fileOf(RAISED), OPTIONS);
    const version = await readVersion();
    expect(await importCatalog(pool, fileOf(RAISED, { checkedOn: '2030-01-04' }), OPTIONS)).toEqual({
      kind: 'unchanged',
    });
    expect(await importCatalog(pool, fileOf(RAISED, { checkedOn: '2030-01-03' }), OPTIONS)).toEqual({
      kind: 'unchanged',
    });
    expect(await readVersion()).toBe(version);
    expect(await listChanges()).toHaveLength(1);
    const { rows } = await pool.query<{ day: string }>('select checked_on::text as day from price_catalogs');
    expect(rows).toEqual([{ day: '2030-01-04' }]);
  });

  it('a later day of what is active raises the version where prices yield to it', async () => {
    await importCatalog(pool, fileOf(CHEAPER_CODEX, { checkedOn: '2026-11-28' }), OPTIONS);
    const version = await readVersion();
    const prices = createCurrentPriceBook();
    const priceCodex = () => {
      const call = {
        model: 'gpt-5.3-codex',
        modelRequested: null,
        serviceTier: 'priority',
        usage: tokens(1_000_000, 0),
      };
      const { costStatus, totalCost } = prices.book(1).priceCall(billableCall(call));
      return [costStatus, totalCost === null ? null : formatUsd(totalCost)];
    };
    await prices.refresh(pool);
    const before = prices.book(1).version;
    expect(priceCodex()).toEqual(['exact', '3.5']);
    const again = fileOf(CHEAPER_CODEX, { checkedOn: '2026-12-24' });
    expect(await importCatalog(pool, again, OPTIONS)).toEqual({ kind: 'unchanged' });
    expect(await readVersion()).toBe(version + 1);
    expect(await prices.refresh(pool)).toBe(true);
    expect(priceCodex()).toEqual(['unpriced', null]);
    expect(prices.book(1).version).not.toBe(before);
    expect((await listChanges()).slice(1)).toEqual([
      'test replaced: catalog data.json held on 2026-12-24, too, and not only on 2026-11-28: older prices beside it yield',
    ]);
  });

  it('a bad file leaves the good one, whatever is wrong with it', async () => {
    await importCatalog(pool, fileOf(RAISED), OPTIONS);
    const version = await readVersion();
    const refuse = async (text: string, changes: Partial<CatalogFile> = {}, acceptsChanges = false) =>
      refusalsOf(await importCatalog(pool, fileOf(text, changes), { ...OPTIONS, acceptsChanges }));
    expect(await refuse(FREE)).toEqual([
      'gemini gemini-2.0-flash-lite: input would be free; it costs $0.0825 a million',
    ]);
    expect(await refuse('{}', {}, true)).toEqual([
      'unreadable: it is not a JSON array of providers, as genai-prices publishes it',
    ]);
    expect(await refuse('', { bytes: Buffer.from([0x5b, 0xff, 0x5d]) }, true)).toEqual([
      'unreadable: it is not UTF-8 text',
    ]);
    expect(await refuse('', { bytes: new Uint8Array(8 * 1024 * 1024 + 1) }, true)).toEqual([
      'unreadable: it has more than 8388608 bytes',
    ]);
    expect(await refuse(catalogText(), { checkedOn: '2020-01-01' }, true)).toEqual([`outdated: ${OUTDATED}`]);
    expect(
      await refuse(
        '[{"id":"openai","models":[]},{"id":"google","models":[{"id":"m","match":{"equals":"m"},"prices":{}}]}]',
      ),
    ).toEqual(
      expect.arrayContaining([
        'fireworks accounts/fireworks/models/gpt-oss-120b: the worked call fireworks-03 would have no cost; it costs $0.0027',
      ]),
    );
    expect(await listCatalogs()).toEqual(['data.json (active)']);
    expect(await readVersion()).toBe(version);
    expect(await askPrice()).toMatchObject({ cost: '0.0825' });
  });

  it('what looks wrong is taken over when that is said, and the audit trail has it', async () => {
    const outcome = await importCatalog(pool, fileOf(FREE), { ...OPTIONS, acceptsChanges: true });
    expect(refusalsOf(outcome)).toEqual([
      'gemini gemini-2.0-flash-lite: input would be free; it costs $0.075 a million',
    ]);
    expect(await askPrice()).toMatchObject({ cost: '0' });
    const { rows } = await pool.query('select before, after from price_changes');
    expect(rows).toMatchObject([
      {
        before: { origin: 'bundled', name: BUNDLED_NAME, checked_on: BUNDLED_ON },
        after: {
          origin: 'file',
          name: 'data.json',
          checked_on: '2030-01-02',
          models: 376,
          accepted: ['gemini gemini-2.0-flash-lite: input would be free; it costs $0.075 a million'],
        },
      },
    ]);
  });

  it('a trial says the same and changes nothing', async () => {
    expect(refusalsOf(await tryCatalog(pool, fileOf(FREE), false))).toEqual([
      'gemini gemini-2.0-flash-lite: input would be free; it costs $0.075 a million',
    ]);
    expect(await tryCatalog(pool, fileOf(RAISED), false)).toMatchObject({ kind: 'activated', refusals: [] });
    expect(await listCatalogs()).toEqual([]);
  });

  it('keeps the five before, and a former one can come back', async () => {
    for (let number = 1; number <= 8; number += 1)
      await importCatalog(pool, fileOf(`${RAISED}${' '.repeat(number)}`, { name: `${number}.json` }), OPTIONS);
    expect(await listCatalogs()).toEqual(['3.json', '4.json', '5.json', '6.json', '7.json', '8.json (active)']);
    await importCatalog(pool, fileOf(`${RAISED}    `, { name: 'four.json' }), OPTIONS);
    expect(await listCatalogs()).toEqual(['3.json', 'four.json (active)', '5.json', '6.json', '7.json', '8.json']);
  });

  it('one that is older than what a newer gateway brings is set aside, with the reason', async () => {
    await importCatalog(pool, fileOf(RAISED), OPTIONS);
    await pool.query("update price_catalogs set checked_on = '2020-01-01'");
    expect(await askPrice()).toMatchObject({
      cost: '0.075',
      problem: OUTDATED,
    });
    // The same file of a later day is news then.
    expect(await importCatalog(pool, fileOf(RAISED), OPTIONS)).toMatchObject({ kind: 'activated' });
    expect(await askPrice()).toMatchObject({ cost: '0.0825', problem: null });
  });

  it('whatever bytes are imported, with or without consent, what is active is what it was or a readable catalog', async () => {
    const small = '[{"id":"google","models":[{"id":"m","match":{"starts_with":"m"},"prices":{"input_mtok":0.15}}]}]';
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 100 }),
      fc.json().map((text) => Buffer.from(text)),
      fc
        .tuple(fc.nat({ max: small.length }), fc.nat({ max: 20 }), fc.string({ maxLength: 12 }))
        .map(([at, cut, more]) => Buffer.from(small.slice(0, at) + more + small.slice(at + cut))),
    );
    await fc.assert(
      fc.asyncProperty(bytes, fc.boolean(), async (content, acceptsChanges) => {
        const before = await listCatalogs();
        const outcome = await importCatalog(pool, fileOf('', { bytes: content }), { ...OPTIONS, acceptsChanges });
        const { rows } = await pool.query<{ content: string }>('select content from price_catalogs where is_active');
        if (outcome.kind !== 'activated') expect(await listCatalogs()).toEqual(before);
        for (const row of rows) expect(parseCatalog(row.content, '', '2026-11-28').isOk).toBe(true);
        expect((await askPrice()).problem).toBeNull();
      }),
      { numRuns: 40 },
    );
  });

  it('counts the calls of thirty days that have no whole price, by model', async () => {
    const call = (number: number, model: string) =>
      endedCall(number, { modelRequested: model }, { model, modelRequested: model });
    await database.storePriced(call(1, 'house-1'), call(2, 'house-1'), call(3, 'house-2'), call(4, 'gpt-5'));
    const book = database.prices.book(1);
    expect(await readUnpricedFacts(pool, 1, book, NOON_MS + 30 * DAY_MS)).toMatchObject({ calls: 3, models: 2 });
    expect(await readUnpricedFacts(pool, 1, book, NOON_MS + 31 * DAY_MS)).toMatchObject({ calls: 0, models: 0 });
    await pool.query("update llm_requests set cost_status = 'exact'");
  });

  describe('over HTTP', () => {
    const send = async (method: string, path: string, body?: string | Uint8Array<ArrayBuffer>) => {
      const response = await fetch(`${database.url}/api/v1/prices${path}`, {
        method,
        headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'x-tollgate-actor': 'ada@desk' },
        ...(body === undefined ? {} : { body }),
      });
      return { status: response.status, body: await response.json() };
    };

    it('shows what would change, changes it, and names who did', async () => {
      const query = '?name=data.json';
      const rate = {
        provider: 'gemini',
        model: 'gemini-2.0-flash-lite',
        class: 'input',
        before: '0.075',
        after: '0.0825',
      };
      expect(await send('POST', `/catalog${query}&dry_run=true`, RAISED)).toMatchObject({
        status: 200,
        body: {
          outcome: 'would_activate',
          changed_rates: { count: 1, first: [{ ...rate, per: 1_000_000, from: null }] },
        },
      });
      expect(await listCatalogs()).toEqual([]);
      expect(await send('POST', `/catalog${query}`, RAISED)).toMatchObject({
        status: 200,
        body: { outcome: 'activated' },
      });
      expect(await send('POST', `/catalog${query}`, RAISED)).toMatchObject({
        status: 200,
        body: { outcome: 'unchanged' },
      });
      expect(await listChanges()).toEqual([
        expect.stringMatching(
          /^admin token, as stated by ada@desk activated: catalog data\.json of [\d-]{10}: 0 models added, 0 lost, 1 rate changed$/,
        ),
      ]);
      expect(await send('DELETE', '/catalog')).toMatchObject({ status: 200, body: { outcome: 'activated' } });
      expect(await send('DELETE', '/catalog')).toMatchObject({ status: 200, body: { outcome: 'unchanged' } });
    });

    it('says in plain words why a file is refused', async () => {
      const message = 'gemini gemini-2.0-flash-lite: input would be free; it costs $0.075 a million';
      expect(await send('POST', '/catalog?name=data.json&dry_run=true', FREE)).toMatchObject({
        status: 200,
        body: { outcome: 'would_refuse', refusals: { count: 1, first: [{ gate: 'free', text: message }] } },
      });
      expect(await send('POST', '/catalog?name=data.json', FREE)).toMatchObject({
        status: 409,
        body: {
          error: {
            code: 'catalog_refused',
            message: `The prices in use stay, since one thing looks wrong:\n${message}`,
          },
        },
      });
      expect(await send('POST', '/catalog?name=data.json', 'hello')).toMatchObject({
        status: 400,
        body: {
          error: {
            code: 'catalog_unreadable',
            message: 'The file is no price catalog: it is not JSON. The prices in use stay.',
          },
        },
      });
      expect(await send('POST', '/catalog?name=data.json&checked_on=2026-01-01', RAISED)).toMatchObject({
        status: 409,
        body: { error: { code: 'catalog_outdated' } },
      });
      expect(await send('POST', '/catalog?name=data.json&checked_on=2999-01-01', RAISED)).toMatchObject({
        status: 400,
        body: { error: { message: 'checked_on: 2999-01-01 is in the future.' } },
      });
      expect(await send('POST', '/catalog?name=data.json', new Uint8Array(8 * 1024 * 1024 + 1))).toMatchObject({
        status: 413,
        body: { error: { code: 'body_too_large', message: 'A body may have 8388608 bytes.' } },
      });
      expect(await send('POST', '/feed/fetch')).toMatchObject({ status: 409, body: { error: { code: 'feed_off' } } });
      expect(await listCatalogs()).toEqual([]);
    });

    it('takes a file of declared prices, as the command line sends it, and a second time changes nothing', async () => {
      const client = createGatewayClient({ url: database.url, token: ADMIN_TOKEN }, {});
      const file = JSON.stringify({
        overrides: [{ provider: 'together', match: 'exact', model: 'acme/sparrow-7b', rates: { input: '0.60' } }],
        mappings: [{ provider: 'openai', match: 'prefix', model: 'house-', billing_model: 'gpt-5' }],
        multipliers: [{ provider: 'anthropic', factor: '0.85' }],
      });
      await declareAll(client, readDeclarations(file) ?? []);
      await declareAll(client, readDeclarations(file) ?? []);
      expect(await database.read('/prices/status')).toMatchObject({
        declarations: { overrides: 1, mappings: 1, multipliers: 1 },
      });
      expect(await listChanges()).toHaveLength(3);
      const wrong = `{"kind":"multiplier","provider":"gemini","factor":"0.5"}\n{"kind":"multiplier","provider":"gemini","factor":"-1"}`;
      await expect(declareAll(client, readDeclarations(wrong) ?? [])).rejects.toThrow(
        /^number 2, multiplier gemini × -1: factor: .* \(the 1 before it are declared; after a correction import the file again\)$/,
      );
      await pool.query('truncate price_overrides, price_mappings, price_multipliers');
    });

    it('takes a later day of the file in use from the command line, which a dry run leaves alone', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'prices-'));
      const path = join(folder, 'same.json');
      writeFileSync(path, RAISED);
      const run = async (...flags: readonly string[]) => {
        const prices = new Command('prices');
        addCatalogCommands(prices, (command) => command.option('--url <url>').option('--token <token>'));
        const gateway = ['--url', database.url, '--token', ADMIN_TOKEN];
        await prices.parseAsync(['import', path, ...gateway, ...flags], { from: 'user' });
      };
      const readDay = async () => {
        const { rows } = await pool.query<{ day: string }>(
          'select checked_on::text as day from price_catalogs where is_active',
        );
        return rows[0]?.day;
      };
      const said: string[] = [];
      const write = vi.spyOn(process.stdout, 'write').mockImplementation((text) => said.push(String(text)) > 0);
      try {
        await run('--checked-on', '2026-11-20');
        expect(await readDay()).toBe('2026-11-20');
        said.length = 0;
        await run('--checked-on', '2026-11-21', '--dry-run');
        expect([await readDay(), said.join('')]).toEqual([
          '2026-11-20',
          'This file is in use already; no price in it differs.\n',
        ]);
        said.length = 0;
        await run('--checked-on', '2026-11-21');
        expect(await readDay()).toBe('2026-11-21');
        expect(said.join('')).toMatch(
          /^This file is in use already; no price in it differs\.\nIts prices are known to hold on 2026-11-21 \(price version [0-9a-f]{16}\)\.\n$/,
        );
      } finally {
        write.mockRestore();
        rmSync(folder, { recursive: true });
      }
    });

    it('gives the catalog in use as a file that changes nothing when it is imported', async () => {
      const { body } = await send('GET', '/catalog');
      const asOf = `checked_on=${BUNDLED_ON}`;
      expect(await send('POST', `/catalog?name=data.json&${asOf}`, JSON.stringify(body))).toMatchObject({
        status: 200,
        body: { changed_rates: { count: 0 }, added_models: { count: 0 }, price_version: BUNDLED_VERSION },
      });
    });

    it('tells how fresh the prices are and what they do not cover', async () => {
      const bundled = { origin: 'bundled', name: BUNDLED_NAME, checked_on: BUNDLED_ON, models: 376, sha256: null };
      expect(await database.read('/prices/status')).toMatchObject({
        price_version: BUNDLED_VERSION,
        catalog: bundled,
        bundled,
        declarations: { overrides: 0, mappings: 0, multipliers: 0 },
        unpriced: { calls: 0, models: 0 },
        feed: { setting: 'off', checked_at: null, result: null, detail: null },
        warnings: [expect.stringMatching(/^the price catalog is \d+ days old; /)],
      });
      await send('POST', '/catalog?name=data.json', RAISED);
      expect(await database.read('/prices/status')).toMatchObject({
        catalog: {
          origin: 'file',
          name: 'data.json',
          age_days: 0,
          models: 376,
          sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
        },
        bundled,
      });
    });
  });
});
