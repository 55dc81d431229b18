/** What the operator declares about prices, over HTTP and a real database: saving, refusing, the audit trail, what is unpriced. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { createCurrentPriceBook } from '../../src/control/prices/declared/current-price-book.ts';
import { createBatchPace } from '../../src/control/shipper/batch-pace.ts';
import { openIngestSession } from '../../src/control/shipper/ingest-session.ts';
import { openDirectoryShipper } from '../../src/control/shipper/ship-directory.ts';
import { TriggerRefusals } from '../../src/control/shipper/trigger-refusals.ts';
import { openSpoolWriter } from '../../src/spool/spool-writer.ts';
import { type AdminDatabase, endedCall, idAt, startAdminDatabase, tokens } from '../support/admin-database.ts';
import { callBegin, callEnd } from '../support/call-fixtures.ts';
import { POSTGRES_KINDS } from '../support/postgres.ts';
import { quietLog } from '../support/quiet-log.ts';

const START_LIMIT_MS = 60_000;
const Row = z.record(z.string(), z.unknown());
const List = z.object({ data: z.array(Row), next_cursor: z.string().nullable() });
const Refusal = z.object({ error: z.object({ code: z.string(), message: z.string() }) });
const WINDOW = 'from=2026-11-28T12:00:00Z&to=2026-11-28T12:10:00Z';
const ARN = 'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/a1b2c3';

describe.each(POSTGRES_KINDS)('prices of the operator on $name', (kind) => {
  let db: AdminDatabase;

  beforeAll(async () => {
    db = await startAdminDatabase(kind);
  }, START_LIMIT_MS);
  afterAll(() => db?.stop());

  async function list(path: string): Promise<z.infer<typeof Row>[]> {
    return List.parse(await db.read(path)).data;
  }

  async function refusal(path: string, body: unknown): Promise<string> {
    const answer = await db.send('POST', path, body);
    return `${answer.status} ${Refusal.parse(answer.body).error.message}`;
  }

  test('an override is stored as it was sent, and replaced by one with the same key', async () => {
    const first = await db.send(
      'POST',
      '/prices/overrides',
      { provider: 'openai', model: ' ft-1 ', rates: { input: '1.250', output: '10' }, note: 'contract 7' },
      { 'x-tollgate-actor': 'ann@desk' },
    );
    expect(first).toEqual({
      status: 201,
      body: {
        override: {
          id: 1,
          created_at: expect.stringMatching(/Z$/),
          provider: 'openai',
          provider_alias: null,
          match: 'exact',
          model: 'ft-1',
          service_tier: 'standard',
          over_tokens: null,
          up_to_tokens: null,
          rates: { input: '1.25', output: '10' },
          valid_from: null,
          valid_to: null,
          note: 'contract 7',
        },
        replaced: false,
        changed: true,
        warnings: [],
      },
    });
    const same = { provider: 'openai', model: 'ft-1', rates: { output: '10.0', input: '1.25' }, note: 'contract 7' };
    expect(await db.send('POST', '/prices/overrides', same)).toMatchObject({
      status: 201,
      body: { override: { id: 1 }, replaced: false, changed: false },
    });
    const other = { ...same, model: 'FT-1', rates: { input: '2' } };
    expect(await db.send('POST', '/prices/overrides', other)).toMatchObject({
      status: 201,
      body: { override: { id: 2, rates: { input: '2' } }, replaced: true, changed: true },
    });
    expect((await list('/prices/overrides')).map(({ id }) => id)).toEqual([2]);
    expect((await list('/prices/changes')).map(({ actor, action, summary }) => [actor, action, summary])).toEqual([
      ['admin token', 'replaced', 'openai FT-1: input $2'],
      ['admin token, as stated by ann@desk', 'added', 'openai ft-1: input $1.25, output $10'],
    ]);
    const answer = await db.send('DELETE', '/prices/overrides/2');
    expect(answer).toMatchObject({ status: 200, body: { override: { id: 2 } } });
    expect((await db.send('DELETE', '/prices/overrides/2')).status).toBe(404);
    expect((await list('/prices/changes?limit=1'))[0]).toMatchObject({
      action: 'removed',
      subject: 'override',
      before: { model: 'FT-1', rates: { input: '2' } },
      after: null,
    });
  });

  test('what cannot be a price is refused with the reason', async () => {
    const scope = { provider: 'openai', model: 'm' };
    expect(await refusal('/prices/overrides', { ...scope, rates: { input: 1.25 } })).toBe(
      '400 rates.input: write the rate as text, "1.25": a JSON number is a float, and may not be what you typed',
    );
    for (const rate of ['-1', '1e-6', '1,25', '', '100000.01', '0.0000000000000000001'])
      expect(await refusal('/prices/overrides', { ...scope, rates: { input: rate } })).toBe(
        '400 rates.input: a rate is plain decimal text from 0 to 100000 with at most 18 decimals, such as "1.25"',
      );
    expect(await refusal('/prices/overrides', { ...scope, rates: { inputs: '1' } })).toMatch(
      /^400 rates: inputs is no usage class; they are input, input_audio, /,
    );
    expect(await refusal('/prices/overrides', { ...scope, rates: {} })).toBe(
      '400 rates: give at least one rate, such as {"input": "1.25"}',
    );
    expect(await refusal('/prices/overrides', { provider: 'azure', model: 'm', rates: { input: '1' } })).toBe(
      '400 provider: one of openai, anthropic, gemini, bedrock, fireworks, together, deepseek',
    );
    expect(
      await refusal('/prices/overrides', { ...scope, rates: { input: '1' }, over_tokens: 10, up_to_tokens: 10 }),
    ).toBe('400 up_to_tokens: it must be more than over_tokens');
    expect(
      await refusal('/prices/overrides', {
        ...scope,
        rates: { input: '1' },
        valid_from: '2026-11-02',
        valid_to: '2026-11-01',
      }),
    ).toBe('400 valid_to: it must be later than valid_from');
    expect(await refusal('/prices/multipliers', { provider: 'openai', factor: '10.1' })).toBe(
      '400 factor: a factor is plain decimal text from 0 to 10 with at most 6 decimals, such as "0.85"',
    );
    expect(await refusal('/prices/multipliers', { provider: 'openai', factor: '0.1234567' })).toMatch(/^400 factor/);
    expect(await refusal('/prices/mappings', { provider: 'openai', model: '', billing_model: 'gpt-5' })).toMatch(
      /^400 model: give the id/,
    );
  });

  test('there may be 5,000 of a kind, and one that replaces another is none more', async () => {
    await db.pool.query(
      `insert into price_multipliers (account_id, provider, provider_alias, factor)
       select 1, 'deepseek', 'a' || number, 0.5 from generate_series(1, 5000) number`,
    );
    const one = { provider: 'deepseek', factor: '0.9' };
    expect(await refusal('/prices/multipliers', one)).toBe(
      '409 There are 5000 of this kind already; remove some, or declare a prefix for many models.',
    );
    expect((await db.send('POST', '/prices/multipliers', { ...one, provider_alias: 'a7' })).body).toMatchObject({
      replaced: true,
      multiplier: { factor: '0.9' },
    });
    await db.pool.query('delete from price_multipliers');
  });

  test('the routes and their bodies stand in the OpenAPI document', async () => {
    const { paths, components } = z
      .object({
        paths: Row,
        components: z.object({ schemas: z.record(z.string(), z.looseObject({ properties: Row.optional() })) }),
      })
      .parse(await db.read('/openapi.json'));
    const routes = Object.keys(paths).filter((path) => path.startsWith('/api/v1/prices/'));
    expect(routes).toEqual(
      expect.arrayContaining([
        ...['overrides', 'overrides/{id}', 'mappings', 'mappings/{id}', 'multipliers', 'multipliers/{id}'].map(
          (path) => `/api/v1/prices/${path}`,
        ),
        ...['preview', 'changes', 'unpriced', 'rows'].map((path) => `/api/v1/prices/${path}`),
      ]),
    );
    expect(components.schemas['PriceOverrideInput']?.properties?.['rates']).toMatchObject({
      type: 'object',
      properties: { input: { type: 'string' }, output: { type: 'string' } },
    });
  });

  test('a mapping that leads back to itself is refused', async () => {
    const map = (model: string, billing_model: string, more = {}) => ({
      provider: 'openai',
      model,
      billing_model,
      ...more,
    });
    expect(await refusal('/prices/mappings', map('a', 'A'))).toBe(
      '409 a would be billed as itself; nothing is to be declared for that',
    );
    expect((await db.send('POST', '/prices/mappings', map('a', 'b'))).body).toMatchObject({
      warnings: ['openai b has no price itself; calls will stay unpriced'],
    });
    expect((await db.send('POST', '/prices/mappings', map('b', 'c'))).status).toBe(201);
    expect(await refusal('/prices/mappings', map('c', 'a'))).toBe(
      '409 a is itself mapped, and leads back to c: remove that mapping first',
    );
    for (const { id } of await list('/prices/mappings')) await db.send('DELETE', `/prices/mappings/${id}`);
  });

  test('what has no price is listed with the reason and the command that ends it', async () => {
    const openai = { provider: 'openai', endpoint: 'chat.completions' } as const;
    await db.storePriced(
      endedCall(1, { ...openai, modelRequested: 'gpt-5' }, { model: 'gpt-5', usage: tokens(10, 5) }),
      endedCall(2, { ...openai, modelRequested: "o'new" }, { model: "o'new", usage: tokens(100, 10) }),
      endedCall(3, { ...openai, modelRequested: "o'new" }, { model: "o'new", usage: tokens(50, 0) }),
      endedCall(
        4,
        { provider: 'bedrock', endpoint: 'converse', modelRequested: ARN },
        {
          model: null,
          modelRequested: ARN,
          usage: tokens(7, 3),
        },
      ),
      endedCall(
        5,
        { ...openai, modelRequested: 'gpt-5' },
        { model: 'gpt-5', serviceTier: 'scale', usage: tokens(1, 1) },
      ),
      endedCall(6, openai, {
        model: 'gpt-5',
        usage: { classes: { input: 5, output_audio: 3 }, reasoning: null, native: {} },
      }),
      endedCall(
        7,
        { ...openai, endpoint: 'unknown' },
        { model: null, modelRequested: null, usage: null, usageSource: 'none' },
      ),
      endedCall(8, openai, {
        model: 'gpt-5',
        usage: {
          classes: { input: 5, output: 1 },
          reasoning: null,
          native: {},
          others: [{ purpose: 'advisor', model: 'sage-1', classes: { input: 40, output: 2 } }],
        },
      }),
      endedCall(
        12,
        { provider: 'anthropic', endpoint: 'messages.batches', billed: false, modelRequested: null },
        { model: null, modelRequested: null, usage: null, usageSource: 'none', flags: ['result_unread'] },
      ),
      endedCall(
        13,
        {
          provider: 'bedrock',
          endpoint: 'converse',
          modelRequested: 'amazon.nova-pro-v1:0',
          region: 'cn-north-1',
        },
        { model: null, modelRequested: 'amazon.nova-pro-v1:0', usage: tokens(4, 2) },
      ),
      endedCall(
        14,
        { ...openai, providerAlias: 'azure', modelRequested: 'gpt-4o', region: 'acme.openai.azure.com' },
        { model: 'gpt-4o', usage: tokens(4, 2) },
      ),
      // What a fallback wrote to the cache is billed by a rate that no declared price would tell.
      endedCall(
        15,
        { provider: 'anthropic', endpoint: 'messages' },
        {
          model: 'claude-opus-5',
          usage: {
            classes: { input: 5, cache_creation_5m: 9, output: 1 },
            reasoning: null,
            native: {},
            hasUnknownWrites: true,
          },
        },
      ),
      // Cut early, but every class has a price: nothing is missing from the price book.
      endedCall(9, openai, { model: 'gpt-5', usage: tokens(5, 1), usageSource: 'partial' }),
      endedCall(10, openai, { model: null, modelRequested: null, usage: tokens(2, 1) }),
      endedCall(20, openai, { model: 'sora-2', usage: tokens(3, 1) }),
      // Its searches would have the price of every model's.
      endedCall(11, { provider: 'anthropic', endpoint: 'messages' }, { model: 'claude-opus-9', usage: tokens(2, 1) }),
    );
    const found = await list(`/prices/unpriced?${WINDOW}`);
    const summary = found.map(({ provider, model, reason, calls, missing, suggestion }) => [
      provider,
      model,
      reason,
      calls,
      missing,
      suggestion,
    ]);
    const notes = found.flatMap(({ model, note }) => (note === null ? [] : [[model, note]]));
    expect(notes).toEqual([['sora-2', 'billed by the second of video, which no answer reports']]);
    expect(summary[0]).toEqual([
      'openai',
      "o'new",
      'unknown_model',
      2,
      ['input', 'output'],
      String.raw`tollgate prices set openai 'o'\''new' --input USD --output USD`,
    ]);
    expect(new Set(summary.slice(1))).toEqual(
      new Set([
        [
          'anthropic',
          'claude-opus-9',
          'unknown_model',
          1,
          ['input', 'output'],
          'tollgate prices set anthropic claude-opus-9 --input USD --output USD',
        ],
        ['bedrock', ARN, 'opaque_id', 1, ['input', 'output'], `tollgate prices map bedrock ${ARN} --to MODEL`],
        [
          'openai',
          'gpt-5',
          'terms',
          1,
          ['input', 'output'],
          'tollgate prices set openai gpt-5 --tier any --input USD --output USD',
        ],
        [
          'openai',
          'gpt-5',
          'no_rate_for_class',
          1,
          ['output_audio'],
          'tollgate prices set openai gpt-5 --rate output_audio=USD',
        ],
        [
          'bedrock',
          'amazon.nova-pro-v1:0',
          'terms',
          1,
          ['input', 'output'],
          'tollgate prices set bedrock amazon.nova-pro-v1:0 --input USD --output USD',
        ],
        [
          'openai',
          'gpt-4o',
          'terms',
          1,
          ['input', 'output'],
          'tollgate prices set openai gpt-4o --alias azure --input USD --output USD',
        ],
        [
          'openai',
          null,
          'unknown_endpoint',
          1,
          [],
          'The gateway does not know what this endpoint does, nor what it costs; no declared price changes that.',
        ],
        [
          'anthropic',
          null,
          'result_unread',
          1,
          [],
          'A result was fetched and could not be read; the example says why. Fetched again whole, as JSON, it is counted.',
        ],
        [
          'openai',
          'sora-2',
          'unknown_model',
          1,
          ['input', 'output'],
          'tollgate prices set openai sora-2 --input USD --output USD',
        ],
        [
          'openai',
          'sage-1',
          'unknown_model',
          1,
          ['input', 'output'],
          'tollgate prices set openai sage-1 --input USD --output USD',
        ],
        [
          'openai',
          null,
          'no_model',
          1,
          ['input', 'output'],
          'Neither the request nor the answer names a model, so no price can be declared for it.',
        ],
      ]),
    );
    expect(found[0]).toMatchObject({
      endpoint: 'chat.completions',
      terms: null,
      input_tokens: 150,
      output_tokens: 10,
      cache_read_input_tokens: 0,
      other_quantities: {},
      known_cost: '0',
      first_seen: '2026-11-28T12:00:00.002Z',
      last_seen: '2026-11-28T12:00:00.003Z',
      example_id: idAt(3),
    });
    expect(new Set(found.filter(({ reason }) => reason === 'terms').map(({ terms }) => terms))).toEqual(
      new Set(['service tier scale', 'served at cn-north-1', 'served at acme.openai.azure.com']),
    );
    expect(found.find(({ reason }) => reason === 'no_rate_for_class')).toMatchObject({
      known_cost: '0.00000625',
      other_quantities: { output_audio: 3 },
    });
  });

  test('a call whose model has a price by now waits to be priced again', async () => {
    await db.send('POST', '/prices/overrides', {
      provider: 'openai',
      model: 'sage-1',
      rates: { input: '1', output: '2' },
    });
    const found = await list(`/prices/unpriced?${WINDOW}`);
    expect(found.find(({ model }) => model === 'sage-1')).toMatchObject({ reason: 'priced_by_now', calls: 1 });
  });

  test('a preview shows what a declaration would do to the latest calls, and changes nothing', async () => {
    const lately = Date.now() - 60_000;
    const deployed = { provider: 'fireworks', endpoint: 'chat.completions', requestedAtMs: lately } as const;
    const call = (number: number, alias: string | null, input: number) =>
      endedCall(
        number,
        { ...deployed, providerAlias: alias, modelRequested: 'accounts/acme/models/mine' },
        { model: null, modelRequested: 'accounts/acme/models/mine', usage: tokens(input, 0) },
      );
    await db.storePriced(call(101, null, 1_000), call(102, 'eu', 500), call(103, null, 3));
    const add = {
      kind: 'override',
      provider: 'fireworks',
      model: 'Accounts/Acme/',
      match: 'prefix',
      rates: { input: '2' },
    };
    const before = await list('/prices/changes');
    const preview = await db.send('POST', '/prices/preview', { add });
    expect(preview).toMatchObject({
      status: 200,
      body: {
        calls: 3,
        changed: 3,
        old_cost: '0',
        new_cost: '0.003006',
        old_unpriced: 3,
        new_unpriced: 0,
        models: [{ provider: 'fireworks', model: 'accounts/acme/models/mine', calls: 3, new_cost: '0.003006' }],
        warnings: [],
      },
    });
    expect(z.object({ examples: z.array(Row) }).parse(preview.body).examples[0]).toMatchObject({
      id: idAt(103),
      old_cost: '0',
      new_cost: '0.000006',
      old_status: 'unpriced',
      new_status: 'exact',
    });
    expect((await db.send('POST', '/prices/preview', { add: { ...add, provider_alias: 'eu' } })).body).toMatchObject({
      calls: 1,
      changed: 1,
      new_cost: '0.001',
    });
    expect((await db.send('POST', '/prices/preview', { add, limit: 1 })).body).toMatchObject({ calls: 1 });
    expect(await list('/prices/changes')).toEqual(before);
    expect((await list('/prices/overrides')).filter(({ provider }) => provider === 'fireworks')).toEqual([]);

    await db.send('POST', '/prices/overrides', { ...add, kind: undefined });
    await db.storePriced(call(104, null, 10));
    const [override] = (await list('/prices/overrides')).filter(({ provider }) => provider === 'fireworks');
    const remove = { kind: 'override', id: override?.['id'] };
    expect((await db.send('POST', '/prices/preview', { remove })).body).toMatchObject({
      calls: 4,
      changed: 1,
      old_cost: '0.00002',
      new_cost: '0',
      old_unpriced: 3,
      new_unpriced: 4,
      warnings: ['calls that have a cost would have none, or only a part of one'],
    });
    const half = { kind: 'multiplier', provider: 'fireworks', factor: '0.5' };
    expect((await db.send('POST', '/prices/preview', { add: half })).body).toMatchObject({
      // The three that were unpriced have the override's price now; the discount is not for that.
      ...{ calls: 4, changed: 3, new_cost: '0.003026' },
    });
  });

  test('a preview warns of what is probably not meant', async () => {
    const warningsOf = async (add: object) =>
      z.object({ warnings: z.array(z.string()) }).parse((await db.send('POST', '/prices/preview', { add })).body)
        .warnings;
    const rates = { input: '0.00000125', output: '0', web_search_requests: '0.0001' };
    expect(await warningsOf({ kind: 'override', provider: 'together', model: 'x/y', rates })).toEqual([
      'input 0.00000125 looks like a price for one token; rates are for 1,000,000 of them. Did you mean 1.25?',
      'no call of this time is for it; is the id spelt as in the log?',
    ]);
    expect(await warningsOf({ kind: 'mapping', provider: 'together', model: 'x/y', billing_model: 'z' })).toEqual([
      'together z has no price itself; calls will stay unpriced',
      'no call of this time is for it; is the id spelt as in the log?',
    ]);
    const later = { valid_from: '2100-01-01', rates: { input: '1' } };
    expect(await warningsOf({ kind: 'override', provider: 'together', model: 'x/y', ...later })).toEqual([]);
    expect((await db.send('POST', '/prices/preview', {})).status).toBe(400);
    expect((await db.send('POST', '/prices/preview', { remove: { kind: 'mapping', id: 999 } })).status).toBe(404);
  });

  test('the prices of a model are listed with what counts and where it is from', async () => {
    await db.send('POST', '/prices/overrides', {
      provider: 'openai',
      model: 'gpt-5',
      rates: { input: '1' },
      valid_from: '2026-11-01',
    });
    await db.send('POST', '/prices/multipliers', { provider: 'openai', factor: '0.9' });
    await db.send('POST', '/prices/mappings', { provider: 'openai', model: 'house', billing_model: 'gpt-5' });
    const Rows = z.object({ billing_model: z.string(), rows: z.array(Row), rules: z.array(Row) });
    const read = async (query: string) => Rows.parse(await db.read(`/prices/rows?provider=openai&${query}`));
    const inForce = ({ rows }: z.infer<typeof Rows>, unit: string) =>
      rows
        .filter((row) => row['unit'] === unit && row['service_tier'] === 'standard' && row['in_force'])
        .map(({ layer, rate, per, checked_on }) => ({ layer, rate, per, checked_on }));
    const now = await read('model=house&at=2026-11-28');
    expect(now.billing_model).toBe('gpt-5');
    expect(inForce(now, 'input')).toEqual([{ layer: 'override', rate: '1', per: 1_000_000, checked_on: null }]);
    expect(inForce(now, 'output')).toMatchObject([{ layer: 'catalog', rate: '10' }]);
    expect(now.rules).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ kind: 'mapping', text: 'house is billed as gpt-5', in_force: true }),
        expect.objectContaining({ kind: 'discount', text: 'list prices × 0.9' }),
        expect.objectContaining({
          kind: 'multiplier',
          key: 'overlay/openai/batch',
          source: 'OpenAI, Batch API: 50 % off',
        }),
      ]),
    );
    expect(inForce(await read('model=gpt-5&at=2026-10-31'), 'input')).toMatchObject([
      { layer: 'catalog', rate: '1.25' },
    ]);
    expect((await read('model=nothing')).rows).toEqual([]);
  });

  test('a reading that was overtaken by a newer one does not bring older prices back', async () => {
    const current = createCurrentPriceBook();
    const [slow, gate] = [await db.pool.connect(), await db.pool.connect()];
    try {
      await gate.query('select pg_advisory_lock(1)');
      const reading = current.refresh(slow);
      // Between its first question and the others.
      const held = slow.query('select pg_advisory_lock(1), pg_advisory_unlock(1)');
      await vi.waitUntil(
        async () => {
          const waiting = await db.pool.query("select 1 from pg_locks where locktype = 'advisory' and not granted");
          return waiting.rowCount === 1;
        },
        { timeout: START_LIMIT_MS },
      );
      await db.send('POST', '/prices/multipliers', { provider: 'together', factor: '0.7' });
      expect(await current.refresh(db.pool)).toBe(true);
      const newer = current.book(1);
      await gate.query('select pg_advisory_unlock(1)');
      await held;
      expect(await reading).toBe(false);
      expect(current.book(1)).toBe(newer);
      expect(await current.refresh(db.pool)).toBe(false);
    } finally {
      slow.release(true);
      gate.release(true);
    }
  });

  test('half of a character, which no database keeps, is told apart from a failure', async () => {
    const half = 'x\ud800';
    const bodies: readonly (readonly [string, object])[] = [
      ['/prices/overrides', { provider: 'openai', model: half, rates: { input: '1' } }],
      ['/prices/mappings', { provider: 'openai', model: 'x', billing_model: half }],
      ['/prices/multipliers', { provider: 'openai', factor: '1', note: half }],
      ['/reprice', { reason: half }],
      ['/reprice', { model: half }],
      ['/reprice', { f: [`metadata.x:eq:${half}`] }],
    ];
    for (const [path, body] of bodies) expect((await db.send('POST', path, body)).status).toBe(400);
  });

  test('a batch that was priced before a change is priced again before it is stored', async () => {
    const current = createCurrentPriceBook();
    await current.refresh(db.pool);
    const former = current.book(1);
    const root = mkdtempSync(join(tmpdir(), 'operator-prices-'));
    const log = quietLog();
    const spool = openSpoolWriter({ dir: join(root, 'p1'), durability: 'process', log });
    const begin = callBegin(201, { id: idAt(201), modelRequested: 'late-1' });
    const end = callEnd(201, { id: idAt(201), model: 'late-1', usage: tokens(1_000_000, 0) });
    await new Promise((resolve) => spool.begin(begin, resolve));
    await new Promise((resolve) => spool.end(begin, end, [], resolve));

    const body = { provider: 'openai', model: 'late-1', rates: { input: '3' } };
    expect((await db.send('POST', '/prices/overrides', body)).status).toBe(201);
    expect(current.book(1)).toBe(former);
    const session = await openIngestSession(db.pool);
    const directory = await openDirectoryShipper('p1', {
      spoolDir: root,
      quarantineDir: join(root, 'quarantine'),
      prices: current,
      log,
      keyUses: new Map(),
      pace: createBatchPace(),
      counts: { rows: 0, quarantined: 0, sanitised: 0, interrupted: 0, corruptBytes: 0, batches: 0, unreadTexts: 0 },
      triggers: new TriggerRefusals(),
      nowMs: Date.now,
      onEnded: () => Promise.resolve(),
    });
    await directory.ship(session, false);
    session.close();
    await spool.close();
    rmSync(root, { recursive: true });

    const { rows } = await db.pool.query<{ total: string; version: string }>(
      `select trim_scale(total_cost)::text as total, price_version as version from llm_requests where id = $1`,
      [idAt(201)],
    );
    // 3 by the declaration, at the discount on list prices that does not touch it.
    expect(rows).toEqual([{ total: '3', version: current.book(1).version }]);
    expect(current.book(1).version).not.toBe(former.version);
  });
});
