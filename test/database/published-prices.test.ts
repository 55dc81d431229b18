/** Prices as a proxy has them, from the file that control writes: every call costs the same as in the shipper. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createCurrentPriceBook } from '../../src/control/prices/declared/current-price-book.ts';
import { importCatalog } from '../../src/control/prices/declared/import-catalog.ts';
import { createPricePublisher } from '../../src/control/process/publish-prices.ts';
import type { PricedCall } from '../../src/pricing/billable-call.ts';
import { PRICES_FILE } from '../../src/pricing/prices-file.ts';
import { toBillableCall } from '../../src/pricing/to-billable-call.ts';
import { type AccountPrices, openAccountPrices } from '../../src/proxy/account-prices.ts';
import { type AdminDatabase, startAdminDatabase } from '../support/admin-database.ts';
import { askedOfCase, askedOfFixture } from '../support/asked-calls.ts';
import { changedCatalogText } from '../support/catalog-text.ts';
import { readCostCases } from '../support/cost-cases.ts';
import { listFixtures } from '../support/fixtures.ts';
import { POSTGRES_KINDS } from '../support/postgres.ts';
import { readFixture } from '../support/read-fixture.ts';

const FLASH_LITE = 'gemini-2.0-flash-lite"},"context_window":1000000,"prices":{"input_mtok":';
const RAISED = changedCatalogText([`${FLASH_LITE}0.075`, `${FLASH_LITE}0.0825`]);
const CALLS = [
  ...(await Promise.all(
    listFixtures().map(async (fixture) => askedOfFixture(fixture, await readFixture(fixture, [fixture.body]), null, 1)),
  )),
  ...(['cost-cases', 'own-cases'] as const).flatMap((name) => readCostCases(name).map((one) => askedOfCase(one, 1))),
].map(({ begin, end }) => toBillableCall(begin, end));

describe.each(POSTGRES_KINDS)('published prices on $name', (kind) => {
  let db: AdminDatabase;
  const folder = mkdtempSync(join(tmpdir(), 'published-prices-'));
  const file = join(folder, PRICES_FILE);

  beforeAll(async () => {
    db = await startAdminDatabase(kind);
  });
  afterAll(async () => {
    await db.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('are those of control, for every recorded answer and worked case, at each change', async () => {
    rmSync(file, { force: true });
    const error = vi.fn();
    const proxy: AccountPrices = openAccountPrices(file, { error });
    const control = createCurrentPriceBook();
    const publisher = createPricePublisher(file);
    const publish = async () => {
      await control.refresh(db.pool);
      await publisher.publish(control);
    };
    const costs = (): readonly (PricedCall | undefined)[] => CALLS.map((call) => proxy.bookOf(1)?.priceCall(call));
    const expectSame = async () => {
      await vi.waitFor(() => expect(proxy.bookOf(1)?.version).toBe(control.book(1).version), { timeout: 20_000 });
      expect(costs()).toEqual(CALLS.map((call) => control.book(1).priceCall(call)));
    };

    expect(proxy.bookOf(1)).toBeNull();
    // Without a file list prices hold.
    await proxy.load();
    expect(proxy.load()).toBeNull();
    expect(proxy.bookOf(1)?.version).toBe(control.book(1).version);

    await publish();
    await expectSame();

    for (const [path, body] of [
      ['/prices/overrides', { provider: 'openai', model: 'gpt-4o-mini', rates: { input: '0.123456789', output: '7' } }],
      [
        '/prices/overrides',
        {
          provider: 'anthropic',
          model: 'claude-',
          match: 'prefix',
          provider_alias: 'team',
          rates: { input: '1' },
          over_tokens: 100,
        },
      ],
      ['/prices/mappings', { provider: 'bedrock', model: 'my-own-model', billing_model: 'amazon.nova-lite-v1:0' }],
      ['/prices/multipliers', { provider: 'gemini', factor: '0.85', valid_from: '2026-01-01T00:00:00Z' }],
    ] as const)
      expect((await db.send('POST', path, body)).status).toBe(201);
    const before = costs();
    await publish();
    await expectSame();
    expect(costs()).not.toEqual(before);
    // They are those of the account that declares them.
    expect(proxy.bookOf(2)?.version).not.toBe(proxy.bookOf(1)?.version);

    const imported = {
      name: 'data.json',
      origin: 'file',
      checkedOn: '2030-01-02',
      bytes: Buffer.from(RAISED),
    } as const;
    const outcome = await importCatalog(db.pool, imported, { accountId: 1, actor: 'test', acceptsChanges: false });
    expect(outcome.kind).toBe('activated');
    await publish();
    await expectSame();

    const last = proxy.bookOf(1)?.version;
    writeFileSync(file, '{"format": 1, "catalog": null');
    await vi.waitFor(() => expect(error).toHaveBeenCalled(), { timeout: 20_000 });
    expect(proxy.bookOf(1)?.version).toBe(last);
    rmSync(file);
    await publish();
    await expectSame();
    proxy.close();
  }, 120_000);
});
