/** The account of calls over real files, a real shipper and a real PostgreSQL. */
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { LedgerSnapshot } from '../../src/control/admin/admin-deps.ts';
import { openLedgerFile } from '../../src/control/ledger/ledger-file.ts';
import { createProxyMemory } from '../../src/control/ledger/proxy-memory.ts';
import { readLedger } from '../../src/control/ledger/read-ledger.ts';
import { HOURLY_TABLES } from '../../src/control/log/fold-rollups.ts';
import { createVerifyKind, requestVerify } from '../../src/control/log/verify-job.ts';
import { listQuarantine } from '../../src/control/shipper/list-quarantine.ts';
import { type Shipper, startShipper } from '../../src/control/shipper/shipper.ts';
import { createWaitingCounter } from '../../src/spool/count-waiting.ts';
import { readLosses } from '../../src/spool/losses-file.ts';
import { prepareDirectory } from '../../src/spool/prepared-directory.ts';
import { NODE_FILES, type SpoolFiles } from '../../src/spool/spool-files.ts';
import { openSpoolWriter, type SpoolWriter } from '../../src/spool/spool-writer.ts';
import type { CallBegin, CallEnd } from '../../src/vocabulary/call-record.ts';
import type { ProxyMetrics, SupervisorStatus } from '../../src/vocabulary/channel.ts';
import { callBegin, callEnd, callId, priceByToken } from '../support/call-fixtures.ts';
import { createFaultyFiles } from '../support/faulty-files.ts';
import { fixedPrices } from '../support/fixed-prices.ts';
import { openTestPool } from '../support/open-migrated.ts';
import { POSTGRES_KINDS, startPostgres, type TestPostgres } from '../support/postgres.ts';
import { quietLog } from '../support/quiet-log.ts';

const DRAIN_MS = 20_000;

const [KIND] = POSTGRES_KINDS;
if (KIND === undefined) throw new Error('there is no PostgreSQL');

const METRICS: ProxyMetrics = {
  openCalls: 0,
  callsTotal: 0,
  rejectedTotal: 0,
  spoolName: 'p1',
  acceptedTotal: 0,
  inFlight: 0,
  endsSpooled: 0,
  recordsLost: 0,
  bodiesDropped: 0,
  compactedTotal: 0,
  spoolPendingBytes: 0,
  refusedFullTotal: 0,
  droppedConnections: 0,
  rssBytes: 0,
};

describe('the account of calls', () => {
  let server: TestPostgres;
  let pool: pg.Pool;
  let root: string;
  let gone: ReturnType<typeof openLedgerFile>;
  const stops: (() => Promise<void>)[] = [];
  const log = quietLog();

  beforeAll(async () => {
    server = await startPostgres(KIND);
    pool = openTestPool(await server.createDatabase('accounts'));
  });
  afterAll(async () => {
    await pool.end();
    await server.remove();
  });

  beforeEach(async () => {
    await pool.query('truncate llm_requests, llm_open_calls, llm_runs, llm_run_facets');
    await pool.query(`truncate ${HOURLY_TABLES.join(', ')}, jobs cascade`);
    await pool.query('drop function if exists refuse cascade');
    root = mkdtempSync(join(tmpdir(), 'accounts-'));
    gone = openLedgerFile(join(root, 'call-accounts.json'));
    return async () => {
      for (const stop of stops.splice(0)) await stop();
      rmSync(root, { recursive: true });
    };
  });

  const spoolDir = () => join(root, 'spool');

  function writer(name: string, files: SpoolFiles = NODE_FILES): SpoolWriter {
    const opened = openSpoolWriter({ dir: join(spoolDir(), name), durability: 'process', files, log });
    stops.push(() => opened.close());
    return opened;
  }

  function shipper(live: readonly string[]): Shipper {
    const started = startShipper({
      pool,
      spoolDir: spoolDir(),
      prices: fixedPrices(priceByToken),
      log,
      deadAfterMs: 0,
      onEnded: (ended) => gone.takeIn(ended, 0),
    });
    started.setLiveSpools(live);
    stops.push(() => started.stop());
    return started;
  }

  async function ship(live: readonly string[]): Promise<void> {
    const started = shipper(live);
    expect(await started.drain(DRAIN_MS)).toBe(true);
    await started.stop();
  }

  function beginCall(spool: SpoolWriter, number: number, begin: Partial<CallBegin> = {}): Promise<boolean> {
    return new Promise((done) => spool.begin(callBegin(number, { ordinal: number, ...begin }), done));
  }

  function endCall(
    spool: SpoolWriter,
    number: number,
    begin: Partial<CallBegin> = {},
    end: Partial<CallEnd> = {},
  ): Promise<boolean> {
    const begun = callBegin(number, { ordinal: number, ...begin });
    return new Promise((done) => spool.end(begun, callEnd(number, end), [], done));
  }

  /** What the processes say, and which directories are theirs. */
  function read(said: Partial<ProxyMetrics> | null = null): Promise<LedgerSnapshot> {
    const memory = createProxyMemory(0);
    const metrics = said === null ? null : { ...METRICS, ...said };
    const status: SupervisorStatus = {
      startedAtMs: 0,
      attempts: [],
      attemptsTotal: 0,
      attemptsNotShown: 0,
      restart: { requested: 0, finished: 0, problem: null },
      children: [
        { role: 'proxy', pid: 1, state: 'ready', startedAtMs: 0, restarts: 0, recentExits: 0, lastExit: null, metrics },
      ],
    };
    return readLedger({
      spoolDir: spoolDir(),
      ended: gone,
      memory,
      counter: createWaitingCounter(),
      readSupervisorStatus: () => Promise.resolve(status),
      listLiveSpools: () => (said === null ? [] : ['p1']),
    });
  }

  async function countRows(): Promise<Readonly<Record<string, number>>> {
    const { rows } = await pool.query<{ outcome: string; calls: number }>(
      'select outcome, count(*)::int4 as calls from llm_requests group by outcome',
    );
    return Object.fromEntries(rows.map(({ outcome, calls }) => [outcome, calls]));
  }

  test('a process that could write nothing yet has calls all the same: lost ones', async () => {
    mkdirSync(join(spoolDir(), 'p1'), { recursive: true });
    const account = await read({ acceptedTotal: 3, recordsLost: 3 });
    expect(account).toMatchObject({ accepted: 3, stored: 0, inFlight: 0, lost: 3, difference: 0, unaccounted: [] });
  });

  test('a call is in flight, waits in the spool, and is stored, and the account says so at each step', async () => {
    const spool = writer('p1');
    for (const number of [1, 2, 3]) await beginCall(spool, number);
    expect(await read({ acceptedTotal: 3, inFlight: 3 })).toMatchObject({ accepted: 3, inFlight: 3, spooled: 0 });
    await endCall(spool, 2);
    await endCall(spool, 1);
    const said = { acceptedTotal: 3, inFlight: 1, endsSpooled: 2 };
    expect(await read(said)).toMatchObject({ accepted: 3, stored: 0, spooled: 2, inFlight: 1, difference: 0 });
    // The process has said nothing since: what is found is ahead of that.
    expect(await read({ acceptedTotal: 3, inFlight: 3 })).toMatchObject({ accepted: 3, spooled: 2, inFlight: 1 });
    await ship(['p1']);
    expect(await read(said)).toMatchObject({ accepted: 3, stored: 2, spooled: 0, inFlight: 1, outcomes: { ok: 2 } });
    // An ending that was kept and is nowhere is a finding.
    expect(await read({ ...said, inFlight: 0, endsSpooled: 3 })).toMatchObject({ difference: 1 });
  });

  test('a batch that is stored again after a crash counts once, and a dead process leaves a whole account', async () => {
    const spool = writer('p1');
    for (const number of [1, 2, 3, 4]) await beginCall(spool, number);
    await endCall(spool, 1);
    await ship(['p1']);
    const cursor = join(spoolDir(), 'p1', 'cursor.json');
    copyFileSync(cursor, join(root, 'cursor.json'));
    await endCall(spool, 2);
    await endCall(spool, 3, {}, { outcome: 'client_closed' });
    await ship(['p1']);
    // As if the process had died between the commit and the cursor.
    copyFileSync(join(root, 'cursor.json'), cursor);
    await spool.close();
    await ship([]);
    expect(readdirSync(spoolDir())).toEqual([]);
    const outcomes = { ok: 2, client_closed: 1, interrupted: 1 };
    expect(await countRows()).toEqual(outcomes);
    expect(await read()).toMatchObject({ accepted: 4, stored: 4, lost: 0, missing: 0, outcomes, unaccounted: [] });
    expect(statSync(join(root, 'call-accounts.json')).mode & 0o777).toBe(0o600);
    // Another start reads the same from the file.
    gone = openLedgerFile(join(root, 'call-accounts.json'));
    expect(await read()).toMatchObject({ accepted: 4, stored: 4 });
  });

  test('a process that begins on a full disk is counted from its first call, while it lives and afterwards', async () => {
    const faulty = createFaultyFiles();
    const spool = writer('p1', faulty.files);
    faulty.failWhen('ENOSPC', (_call, name) => name === 'write');
    expect(await endCall(spool, 1)).toBe(false);
    faulty.failWhen('ENOSPC', () => false);
    expect(await endCall(spool, 2)).toBe(true);
    const said = { acceptedTotal: 2, endsSpooled: 1, recordsLost: 1 };
    expect(await read(said)).toMatchObject({ accepted: 2, stored: 0, spooled: 1, lost: 1, unaccounted: [] });
    await ship(['p1']);
    expect(await read(said)).toMatchObject({ accepted: 2, stored: 1, spooled: 0, lost: 1, unaccounted: [] });
    await spool.close();
    await ship([]);
    expect(await read()).toMatchObject({ accepted: 2, stored: 1, lost: 1, missing: 0, unaccounted: [] });
  });

  test('a process that found only room to count its losses, and was killed, has each of its calls in the account once', async () => {
    const preparedDir = join(root, 'standby');
    await prepareDirectory(preparedDir, 0);
    mkdirSync(spoolDir());
    const { files, failWhen } = createFaultyFiles();
    failWhen('ENOSPC', (_call, name) => name !== 'listNames' && name !== 'rename');
    const dir = join(spoolDir(), 'p1');
    const spool = openSpoolWriter({ dir, preparedDir, durability: 'process', files, log });
    for (const ordinal of [1, 2, 3]) expect(await endCall(spool, ordinal)).toBe(false);
    const said = { acceptedTotal: 3, recordsLost: 3 };
    expect(await read(said)).toMatchObject({ accepted: 3, stored: 0, lost: 3, difference: 0, unaccounted: [] });
    await expect.poll(async () => (await readLosses(dir)).calls).toBe(3);
    // As a kill leaves it: the file is all there is.
    cpSync(dir, join(spoolDir(), 'p2'), { recursive: true });
    await spool.close();
    rmSync(dir, { recursive: true });
    await ship([]);
    expect(await read()).toMatchObject({ accepted: 3, stored: 0, lost: 3, missing: 0, unaccounted: [] });
    expect((await read()).losses).toMatchObject([{ keyId: 1, provider: 'openai', calls: 3 }]);
    expect(readdirSync(spoolDir())).toEqual([]);
  });

  test('a number that never came is lost, and those of a ledger are not missing', async () => {
    const spool = writer('p1');
    await endCall(spool, 1);
    await endCall(spool, 5);
    spool.giveUp(callBegin(6, { ordinal: 6 }));
    await spool.close();
    await ship([]);
    expect(await read()).toMatchObject({ accepted: 6, stored: 2, lost: 4, missing: 3 });
    expect((await read()).losses).toMatchObject([{ keyId: 1, provider: 'openai', model: 'gpt-5', calls: 1 }]);
  });

  test('the records of an older release, which have no numbers, are unaccounted and not guessed', async () => {
    const spool = writer('p1');
    await new Promise((done) => spool.end(callBegin(1), callEnd(1), [], done));
    await spool.close();
    await ship([]);
    expect(await countRows()).toEqual({ ok: 1 });
    const unaccounted = [{ name: 'p1', reason: 'older_release' }];
    expect(await read()).toMatchObject({ accepted: 0, stored: 0, lost: 0, unaccounted, unaccountedTotal: 1 });
  });

  test('a record that is refused even in its safe form is stored without its run, and one without a name is listed', async () => {
    const spool = writer('p1');
    await endCall(spool, 1, { traceId: 'run' });
    await ship(['p1']);
    await pool.query('update llm_runs set input_tokens = 9223372036854775807');
    const secret = 'canary-text';
    await endCall(spool, 2, { traceId: 'run', path: `/${secret}` }, { errorMessage: secret, flags: ['tap_limit'] });
    await endCall(spool, 3, { id: `"${secret}"` }, { id: `"${secret}"`, errorMessage: secret });
    await spool.close();
    await ship([]);
    const { rows } = await pool.query('select * from llm_requests where id = $1', [callId(2)]);
    expect(rows).toMatchObject([
      {
        outcome: 'ok',
        status: 200,
        provider: 'openai',
        key_id: 1,
        flags: ['tap_limit', 'sanitised'],
        // Its run cannot take it up; the call itself is sound.
        ...{ trace_id: null, path: `/${secret}`, error_message: secret },
        cost_status: 'exact',
        total_cost: '0.000172000000',
      },
    ]);
    expect(await read()).toMatchObject({ accepted: 3, stored: 2, setAside: 1, lost: 0 });
    const listed = await listQuarantine(join(root, 'quarantine'));
    expect(listed).toMatchObject([{ kind: 'record', id: null, provider: 'openai', outcome: 'ok', status: 200 }]);
    expect(listed[0]?.reason).toMatch(/^22P02: |Error: /);
    expect(JSON.stringify(listed)).not.toContain('canary-text');
  });

  /** A trigger of somebody's on the log, in which `id` is that of the row. */
  async function addTrigger(body: string, table = 'llm_requests'): Promise<() => Promise<void>> {
    await pool.query(`create function refuse() returns trigger language plpgsql as $$ declare id uuid := new.id;
      begin ${body} return new; end $$`);
    await pool.query(`create trigger refuse before insert on ${table} for each row execute function refuse()`);
    return async () => void (await pool.query('drop function refuse cascade'));
  }

  /** The database refuses call 1 for its data, and call 2 as if the moment were wrong. */
  function refuseCalls(): Promise<() => Promise<void>> {
    return addTrigger(`if id = '${callId(1)}' then raise exception using errcode = '22000'; end if;
      if id = '${callId(2)}' then raise exception using errcode = '55006'; end if;`);
  }

  test('a record that was refused in a batch which is tried again, and then stored, is nowhere put aside', async () => {
    const spool = writer('p1');
    await Promise.all([endCall(spool, 1), endCall(spool, 2), endCall(spool, 3)]);
    const accept = await refuseCalls();
    const started = shipper(['p1']);
    await vi.waitFor(() => expect(started.stats().failures).toBeGreaterThan(0), { timeout: DRAIN_MS });
    expect(await listQuarantine(join(root, 'quarantine'))).toEqual([]);
    await accept();
    expect(await started.drain(DRAIN_MS)).toBe(true);
    expect(await countRows()).toEqual({ ok: 3 });
    expect(await read({ acceptedTotal: 3, endsSpooled: 3 })).toMatchObject({ stored: 3, setAside: 0, lost: 0 });
    expect(started.stats()).toMatchObject({ rows: 3, quarantined: 0 });
    expect(await listQuarantine(join(root, 'quarantine'))).toEqual([]);
  });

  test('a record that was put aside right before a crash, and is stored after it, is put aside no more', async () => {
    const spool = writer('p1');
    await endCall(spool, 3);
    await ship(['p1']);
    const cursor = join(spoolDir(), 'p1', 'cursor.json');
    copyFileSync(cursor, join(root, 'before.json'));
    await endCall(spool, 1);
    const accept = await refuseCalls();
    await ship(['p1']);
    expect(await read({ acceptedTotal: 2, endsSpooled: 2 })).toMatchObject({ stored: 1, setAside: 1 });
    expect(await listQuarantine(join(root, 'quarantine'))).toMatchObject([{ id: callId(1) }]);
    await accept();
    copyFileSync(join(root, 'before.json'), cursor);
    await ship(['p1']);
    expect(await read({ acceptedTotal: 2, endsSpooled: 2 })).toMatchObject({ stored: 2, setAside: 0, lost: 0 });
    expect(await listQuarantine(join(root, 'quarantine'))).toEqual([]);
  });

  test('a record that a trigger refuses, while others are taken, is put aside and holds up nothing', async () => {
    const dead = writer('p0');
    await endCall(dead, 1);
    await dead.close();
    const spool = writer('p1');
    for (const number of [2, 3, 4]) await endCall(spool, number);
    const accept = await addTrigger(
      `if id in ('${callId(1)}', '${callId(3)}') then raise exception 'not this one'; end if;`,
    );
    const started = shipper(['p1']);
    expect(await started.drain(DRAIN_MS)).toBe(true);
    await accept();
    expect(started.stats()).toMatchObject({ rows: 2, quarantined: 2, waitingFor: null });
    expect(await listQuarantine(join(root, 'quarantine'))).toMatchObject([
      { reason: expect.stringContaining('P0001'), provider: 'openai' },
      { reason: expect.stringContaining('P0001'), provider: 'openai' },
    ]);
    expect(readdirSync(spoolDir())).toEqual(['p1']);
    expect(await read({ acceptedTotal: 3, endsSpooled: 3 })).toMatchObject({ stored: 2, setAside: 2, lost: 0 });
  });

  test('while a trigger refuses every record, nothing is put aside, however long it takes', async () => {
    const spool = writer('p1');
    for (const number of [1, 2]) await endCall(spool, number);
    await beginCall(spool, 3);
    const accept = await addTrigger("raise exception 'nobody may write now';");
    const started = shipper(['p1']);
    await vi.waitFor(() => expect(started.stats().failures).toBeGreaterThan(2), { timeout: DRAIN_MS });
    expect(started.stats()).toMatchObject({ rows: 0, quarantined: 0 });
    expect(started.stats().waitingFor).toContain('nobody may write now');
    await accept();
    expect(await started.drain(DRAIN_MS)).toBe(true);
    expect(await read({ acceptedTotal: 3, inFlight: 1, endsSpooled: 2 })).toMatchObject({ stored: 2, setAside: 0 });
    expect(await listQuarantine(join(root, 'quarantine'))).toEqual([]);
  });

  test('records that are refused while a trigger comes to its end are stored whole, however long it has refused them', async () => {
    const spool = writer('p1');
    for (const number of [1, 2]) await endCall(spool, number);
    await pool.query('create sequence asked');
    const accept = await addTrigger("if nextval('asked') < 8 then raise exception 'nobody may write now'; end if;");
    // Each try asks for both together, for each alone, and for each again; the second ends before the first call's last.
    const started = shipper(['p1']);
    expect(await started.drain(DRAIN_MS)).toBe(true);
    await accept();
    await pool.query('drop sequence asked');
    expect(started.stats()).toMatchObject({ rows: 2, sanitised: 0, quarantined: 0 });
  });

  test('a call whose begin was refused at one time waits anew when its ending is at another', async () => {
    const spool = writer('p1');
    await beginCall(spool, 1);
    const accept = await addTrigger("raise exception 'nobody may write now';", 'llm_open_calls');
    const started = shipper(['p1']);
    await vi.waitFor(() => expect(started.stats().failures).toBeGreaterThan(0), { timeout: DRAIN_MS });
    await accept();
    expect(await started.drain(DRAIN_MS)).toBe(true);
    await sleep(150);
    await endCall(spool, 2);
    expect(await started.drain(DRAIN_MS)).toBe(true);
    const acceptAgain = await addTrigger("raise exception 'nobody may write now';");
    const { failures } = started.stats();
    await endCall(spool, 1);
    await vi.waitFor(() => expect(started.stats().failures).toBeGreaterThan(failures + 1), { timeout: DRAIN_MS });
    expect(started.stats()).toMatchObject({ quarantined: 0 });
    await acceptAgain();
    expect(await started.drain(DRAIN_MS)).toBe(true);
    expect(started.stats()).toMatchObject({ rows: 2, sanitised: 0, quarantined: 0 });
  });

  test.each(['23514', '55000', 'U0001'])(
    'a record that a trigger refuses with the code %s, while others are taken, holds up nothing',
    async (code) => {
      const spool = writer('p1');
      for (const number of [1, 2]) await endCall(spool, number);
      const accept = await addTrigger(
        `if id = '${callId(1)}' then raise exception 'not this one' using errcode = '${code}'; end if;`,
      );
      const started = shipper(['p1']);
      expect(await started.drain(DRAIN_MS)).toBe(true);
      await accept();
      expect(started.stats()).toMatchObject({ rows: 1, quarantined: 1, waitingFor: null });
    },
  );

  test('a record that cannot be put aside waits with its process, and the records of others go on', async () => {
    const accept = await refuseCalls();
    const spool = writer('p1');
    await endCall(spool, 1);
    const other = writer('p2');
    await endCall(other, 3);
    writeFileSync(join(root, 'quarantine'), '');
    const started = shipper(['p1', 'p2']);
    await vi.waitFor(() => expect(started.stats().brokenDirectories).toBe(1), { timeout: DRAIN_MS });
    // Not all is stored, and nobody is told that it is.
    expect(await started.drain(1_000)).toBe(false);
    expect(await countRows()).toEqual({ ok: 1 });
    rmSync(join(root, 'quarantine'));
    await vi.waitFor(() => expect(started.stats().brokenDirectories).toBe(0), { timeout: DRAIN_MS });
    await accept();
    expect(await listQuarantine(join(root, 'quarantine'))).toMatchObject([{ id: callId(1) }]);
    expect(await read({ acceptedTotal: 2, endsSpooled: 2 })).toMatchObject({ stored: 1, setAside: 1, lost: 0 });
  });

  test('a comparison of the roll-ups with the records finds one that was changed, and runs once at a time', async () => {
    const spool = writer('p1');
    await endCall(spool, 1, { traceId: 'run' });
    await ship(['p1']);
    const ids = await Promise.all([requestVerify(pool, 1), requestVerify(pool, 1)]);
    expect(ids[0]).toBe(ids[1]);
    expect(await compare()).toEqual({ differences: 0, shown: [] });
    await pool.query('update llm_runs set calls = 7');
    const result = await compare();
    expect(result).toMatchObject({
      differences: 2,
      shown: [
        { rollup: 'llm_runs', side: 'records', trace_id: 'run' },
        { rollup: 'llm_runs', side: 'rollup', trace_id: 'run' },
      ],
    });
  });

  /** The chunks of the job, one after another. */
  async function compare(): Promise<unknown> {
    const { runChunk } = createVerifyKind();
    const client = await pool.connect();
    try {
      for (let cursor: Parameters<typeof runChunk>[1]['cursor'] = null; ; ) {
        await client.query('begin');
        const progress = await runChunk(client, { ...JOB, cursor });
        await client.query('commit');
        if (progress.result !== null) return progress.result;
        cursor = progress.cursor;
      }
    } finally {
      client.release();
    }
  }
});

const JOB = {
  id: 1,
  accountId: 1,
  kind: 'verify',
  subject: null,
  title: '',
  input: {},
  cursor: null,
  phase: '',
  done: 0,
  total: null,
  unit: '',
  ratePerSecond: null,
  state: 'running' as const,
  failures: 0,
  error: null,
  result: null,
  createdAt: new Date(0),
  startedAt: null,
  finishedAt: null,
  heartbeatAt: new Date(0),
};
