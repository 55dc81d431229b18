/** The admin API over real sockets and a real database; the supervisor's end of the channel is played by the test. */

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { watchAdminAccess } from '../../src/control/admin/admin-access.ts';
import { createAdminApp } from '../../src/control/admin/admin-app.ts';
import type { AdminDeps } from '../../src/control/admin/admin-deps.ts';
import { type AdminServer, listenAdmin } from '../../src/control/admin/admin-server.ts';
import { readBrakeAndAlertFigures } from '../../src/control/admin/brake-and-alert-figures.ts';
import { openEndedSessions } from '../../src/control/admin/ended-sessions.ts';
import { createDemoData } from '../../src/control/demo-log/demo-data.ts';
import { readTailEnd, tailLogs } from '../../src/control/log/tail-logs.ts';
import { createKeyPublisher } from '../../src/control/process/key-publisher.ts';
import { buildBatch } from '../../src/control/shipper/build-batch.ts';
import { type IngestSession, openIngestSession } from '../../src/control/shipper/ingest-session.ts';
import { digestKey } from '../../src/keys/gateway-key.ts';
import { parseKeySnapshot } from '../../src/keys/key-snapshot.ts';
import type { CallBegin, CallEnd, SpoolEntry } from '../../src/vocabulary/call-record.ts';
import type { KeyChange } from '../../src/vocabulary/channel.ts';
import { NO_BUDGETS, NO_IMPORTS, NO_LEDGER_DEP, ONE_NODE } from '../support/admin-deps.ts';
import { callBegin, callBody, callEnd, NOON_MS, priceByToken } from '../support/call-fixtures.ts';
import { fixedPrices } from '../support/fixed-prices.ts';
import { NO_BACKUPS } from '../support/no-backups.ts';
import { openTestPool } from '../support/open-migrated.ts';
import { POSTGRES_KINDS, startPostgres, type TestPostgres } from '../support/postgres.ts';
import { testCatalogs } from '../support/test-catalogs.ts';

const TOKEN = 'test-admin-token-of-thirty-two-characters';

const List = z.object({ data: z.array(z.record(z.string(), z.any())), next_cursor: z.string().nullable() });
const ErrorBody = z.object({ error: z.object({ code: z.string(), message: z.string(), request_id: z.string() }) });
const AnyObject = z.record(z.string(), z.any());

/** A UUIDv7 of the call's own millisecond, by which its partition is found. */
function idOf(number: number): string {
  const time = (NOON_MS + number).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${number.toString(16).padStart(12, '0')}`;
}

function begun(number: number, begin: Partial<CallBegin> = {}): CallBegin {
  return callBegin(number, { id: idOf(number), ...begin });
}

function ended(number: number, begin: Partial<CallBegin> = {}, end: Partial<CallEnd> = {}): SpoolEntry {
  return { type: 'end', begin: begun(number, begin), end: callEnd(number, { id: idOf(number), ...end }) };
}

describe.each(POSTGRES_KINDS)('the admin API on $name', (kind) => {
  let server: TestPostgres;
  let pool: pg.Pool;
  let session: IngestSession;
  let pollKeys: () => Promise<void>;
  let dir: string;
  let api: AdminServer;
  let app: ReturnType<typeof createAdminApp>;
  let isDatabaseOpen = true;
  let isConfirming = true;
  const sent: KeyChange[] = [];

  async function store(...entries: SpoolEntry[]): Promise<void> {
    const { items } = buildBatch(entries, { process: 'test', priceCall: priceByToken, nowMs: NOON_MS });
    await session.ingest(items);
  }

  beforeAll(async () => {
    server = await startPostgres(kind);
    const connectionString = await server.createDatabase('admin');
    pool = openTestPool(connectionString, { max: 8 });
    session = await openIngestSession(pool);
    dir = mkdtempSync(join(tmpdir(), 'tollgate-admin-'));
    const log = pino({ level: 'silent' });
    const keys = createKeyPublisher({
      pool,
      file: join(dir, 'keys.json'),
      log,
      confirmLimitMs: 200,
      send: (change) => {
        sent.push(change);
        if (isConfirming) setImmediate(() => keys.onPublished(change.version, true));
      },
    });
    pollKeys = keys.poll;
    const deps: AdminDeps = {
      role: 'all',
      adminToken: TOKEN,
      oidc: null,
      adminHost: '127.0.0.1',
      publicUrl: 'https://gate.example.com',
      adminPublicUrl: null,
      baseUrl: 'http://127.0.0.1:4141',
      version: '0.0.0-test',
      nodes: ONE_NODE,
      budgets: NO_BUDGETS,
      spoolImports: NO_IMPORTS,
      nowMs: Date.now,
      dashboard: null,
      databaseUrl: 'postgres://127.0.0.1/test',
      endedSessions: openEndedSessions(null, log),
      access: watchAdminAccess(log),
      isStopping: () => false,
      database: () => (isDatabaseOpen ? pool : null),
      wallRole: () => null,
      databaseProblem: () => null,
      keepsTexts: () => true,
      publishKeys: keys.publish,
      publishPauses: async () => {},
      alertSending: {
        alerts: { smtpUrl: null, smtpFrom: 'tollgate@localhost', hosts: [] },
        egress: { httpProxy: null, httpsProxy: null, noProxy: null },
        dashboardUrl: null,
      },
      requestRestart: async () => ({ requested: 1, finished: 0, problem: null }),
      readSupervisorStatus: async () => ({
        startedAtMs: NOON_MS,
        restart: { requested: 0, finished: 0, problem: null },
        children: [
          {
            role: 'proxy',
            pid: 7,
            state: 'ready',
            startedAtMs: NOON_MS,
            restarts: 0,
            recentExits: 0,
            lastExit: null,
            metrics: null,
          },
        ],
        attempts: [
          {
            atMs: NOON_MS,
            code: 'key_missing',
            status: 401,
            method: 'GET',
            path: '/v1/x',
            provider: null,
            userAgent: null,
          },
          {
            atMs: NOON_MS,
            code: 'key_unknown',
            status: 401,
            method: 'GET',
            path: '/v1/y',
            provider: null,
            userAgent: null,
          },
        ],
        attemptsTotal: 2,
        attemptsNotShown: 3,
      }),
      readSpoolStatus: () => Promise.resolve({ bytes: 5, limitBytes: 9, isDiskLow: false }),
      ledger: NO_LEDGER_DEP,
      metricsToken: null,

      credentialKeys: { keys: [], problem: null },
      publishCredentials: async () => {},
      countRunningJobs: () => Promise.resolve(0),
      readBrakeAndAlertFigures: () => readBrakeAndAlertFigures(pool),
      readBudgetOverview: async () => null,
      demoData: createDemoData({
        pool,
        accountId: 1,
        priceCall: priceByToken,
        retentionRowsDays: 90,
        retentionBodiesDays: 14,
        now: () => NOON_MS,
      }),
      settings: [{ name: 'TOLLGATE_PORT', value: '4141', source: 'default' }],
      prices: fixedPrices(),
      catalogs: testCatalogs(),
      backups: NO_BACKUPS,
      log,
    };
    app = createAdminApp(deps);
    api = await listenAdmin(app, '127.0.0.1', 0);
  });
  afterAll(async () => {
    await api.close();
    session.close();
    await pool.end();
    await server.remove();
    rmSync(dir, { recursive: true, force: true });
  });

  function ask(path: string, init: { method?: string; body?: string; signal?: AbortSignal; lastId?: string } = {}) {
    const { lastId, ...rest } = init;
    return fetch(`http://127.0.0.1:${api.port}${path}`, {
      ...rest,
      headers: {
        authorization: `Bearer ${TOKEN}`,
        'content-type': 'application/json',
        ...(lastId === undefined ? {} : { 'last-event-id': lastId }),
      },
    });
  }
  async function read(path: string): Promise<Record<string, unknown>> {
    const response = await ask(path);
    const body = AnyObject.parse(await response.json());
    expect({ status: response.status, body }).toMatchObject({ status: 200 });
    return body;
  }
  async function list(path: string): Promise<z.infer<typeof List>> {
    return List.parse(await read(path));
  }
  async function change(path: string, method: string, body?: string): Promise<Record<string, unknown>> {
    const response = await ask(path, { method, ...(body === undefined ? {} : { body }) });
    return { ...AnyObject.parse(await response.json()), httpStatus: response.status };
  }
  async function refusal(asked: Promise<Response>): Promise<string> {
    const response = await asked;
    return `${response.status} ${ErrorBody.parse(await response.json()).error.code}`;
  }
  /** The answer about usage rests for a moment between two questions to the database. */
  async function waitForAnswer(
    isMeant: (key: Record<string, unknown>) => boolean,
  ): Promise<Record<string, unknown> | undefined> {
    for (;;) {
      const key = (await list('/api/v1/keys')).data.find(isMeant);
      if (key !== undefined) return key;
      await sleep(20);
    }
  }
  /** With any Host header, which fetch does not allow. */
  function statusFor(headers: Record<string, string>, path = '/api/v1/keys'): Promise<number | undefined> {
    const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
    const request = httpRequest({ host: '127.0.0.1', port: api.port, path, headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    request.on('error', reject).end();
    return promise;
  }

  test('every route of the document is closed without the token, except liveness', async () => {
    const document = await read('/api/v1/openapi.json');
    expect(document['openapi']).toBe('3.1.0');
    const open: string[] = [];
    for (const [path, methods] of Object.entries(AnyObject.parse(document['paths'])))
      for (const name of Object.keys(AnyObject.parse(methods))) {
        const method = name.toUpperCase();
        const url = `http://127.0.0.1:${api.port}${path.replace(/\{\w+\}/, '1')}`;
        const answers = [
          await fetch(url, { method }),
          await fetch(url, { method, headers: { authorization: 'Bearer wrong' } }),
          await fetch(url, { method, headers: { authorization: TOKEN } }),
          await fetch(`${url}?token=${TOKEN}`, { method }),
        ];
        // After ten wrong tokens within a minute a client is told to wait.
        if (answers.some(({ status }) => status !== 401 && status !== 429)) open.push(path);
        for (const answer of answers) await answer.text();
      }
    // Signing in brings its own proof.
    expect(open.sort()).toEqual([
      '/api/v1/oidc/callback',
      '/api/v1/oidc/sign-in',
      '/api/v1/oidc/sign-out',
      '/api/v1/session',
      '/api/v1/sign-in-ways',
      '/healthz',
      '/readyz',
    ]);
    expect((await fetch(`http://127.0.0.1:${api.port}/api/v1/nothing`)).status).toBe(401);
    expect((await fetch(`http://127.0.0.1:${api.port}/healthz`, { method: 'POST' })).status).toBe(401);
    expect(await refusal(ask('/api/v1/nothing'))).toBe('404 not_found');
  });

  test('every route is in the document', async () => {
    const paths = AnyObject.parse((await read('/api/v1/openapi.json'))['paths']);
    const documented = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(AnyObject.parse(methods)).map(
        (method) => `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ':$1')}`,
      ),
    );
    const served = new Set(
      app.routes.filter(({ method }) => method !== 'ALL').map(({ method, path }) => `${method} ${path}`),
    );
    for (const itself of ['GET /api/v1/openapi.json']) served.delete(itself);
    expect([...served].sort()).toEqual(documented.sort());
    expect(served.size).toBeGreaterThan(20);
  });

  test('asking for the head of a stream holds no place', async () => {
    for (let count = 0; count < 21; count += 1)
      expect((await ask('/api/v1/logs/stream', { method: 'HEAD' })).status).toBe(200);
    const abort = new AbortController();
    expect((await ask('/api/v1/logs/stream', { signal: abort.signal })).status).toBe(200);
    abort.abort();
  });

  test('a metadata key is listed, promoted and demoted; its job is shown, cancelled and resumed', async () => {
    await store(ended(7_001, { metadata: [['Cost-Centre', 'a']] }), ended(7_002, { metadata: [['cost-centre', 'b']] }));
    const range = 'from=2026-11-28T00:00:00Z&to=2026-11-29T00:00:00Z';
    const keyOf = async () => {
      const { data } = z.object({ data: z.array(AnyObject) }).parse(await read(`/api/v1/metadata-keys?${range}`));
      return data.find((key) => key['key'] === 'Cost-Centre');
    };
    expect(await keyOf()).toMatchObject({ calls: 2, state: 'raw', job_id: null, warnings: ['two_spellings'] });
    const path = '/api/v1/metadata-keys/cost-centre';
    expect(await refusal(ask(`${path}/demote`, { method: 'POST' }))).toBe('409 not_promoted');
    expect(await refusal(ask(`${path}/promote`, { method: 'POST', body: '{"display_key":"Other"}' }))).toBe(
      '400 invalid_request',
    );
    expect(await refusal(ask('/api/v1/metadata-keys/a%20b/promote', { method: 'POST' }))).toBe('400 invalid_request');
    const started = await change(`${path}/promote`, 'POST', '{"display_key":"Cost-Centre"}');
    expect(started['httpStatus']).toBe(202);
    const job = `/api/v1/jobs/${started['job_id']}`;
    expect(await change(`${path}/promote`, 'POST')).toEqual(started);
    expect(await keyOf()).toMatchObject({ state: 'promoting', job_id: started['job_id'], promoted_at: null });
    expect(await read(job)).toMatchObject({
      kind: 'promote_metadata',
      title: 'Promote Cost-Centre',
      state: 'queued',
      done: 0,
      total: null,
      unit: 'calls',
      rate_per_second: null,
      eta_seconds: null,
      error: null,
      result: null,
      finished_at: null,
    });
    expect(await refusal(ask(`${path}/demote`, { method: 'POST' }))).toBe('409 job_running');
    expect(await refusal(ask(`${job}/resume`, { method: 'POST' }))).toBe('409 job_not_stopped');
    expect(await change(`${job}/cancel`, 'POST')).toMatchObject({ httpStatus: 200, state: 'cancelled' });
    expect(await change(`${job}/resume`, 'POST')).toMatchObject({ httpStatus: 200, state: 'queued' });
    await pool.query("update jobs set state = 'running', heartbeat_at = now() - interval '31 seconds'");
    expect(await read(job)).toMatchObject({ state: 'stalled' });
    await pool.query('update jobs set heartbeat_at = now(), done = 10, total = 40, rate_per_second = 2.5');
    expect(await read(job)).toMatchObject({ state: 'running', eta_seconds: 12 });
    await change(`${job}/cancel`, 'POST');
    const undone = await change(`${path}/demote`, 'POST');
    expect(await keyOf()).toMatchObject({ state: 'demoting', job_id: undone['job_id'] });
    expect(await refusal(ask(`${job}/resume`, { method: 'POST' }))).toBe('409 job_superseded');
    const first = await list('/api/v1/jobs?limit=1');
    expect(first.data.map(({ id }) => id)).toEqual([undone['job_id']]);
    expect((await list(`/api/v1/jobs?limit=1&cursor=${first.next_cursor}`)).data.map(({ id }) => id)).toEqual([
      started['job_id'],
    ]);
    expect(await refusal(ask('/api/v1/jobs/999999'))).toBe('404 job_not_found');
    await pool.query('delete from metadata_keys; delete from jobs');
  });

  test('another host name is 421 and another origin 403 on every path; the public name passes', async () => {
    const authorization = `Bearer ${TOKEN}`;
    for (const path of ['/api/v1/keys', '/', '/healthz', '/nothing']) {
      expect(await statusFor({ host: 'attacker.example', authorization }, path)).toBe(421);
      expect(await statusFor({ host: 'localhost.attacker.example', authorization }, path)).toBe(421);
      expect(await statusFor({ host: 'localhost', origin: 'https://evil.example', authorization }, path)).toBe(403);
      expect(await statusFor({ host: 'localhost', origin: 'null', authorization }, path)).toBe(403);
    }
    expect(await statusFor({ host: 'localhost', 'sec-fetch-site': 'cross-site', authorization })).toBe(403);
    for (const host of ['localhost:4142', '127.0.0.1', '[::1]:4142', 'gate.example.com', 'LOCALHOST'])
      expect(await statusFor({ host, authorization })).toBe(200);
    expect(await statusFor({ host: 'gate.example.com', origin: 'https://gate.example.com', authorization })).toBe(200);
  });

  test('a created key is shown once, stored as a digest, and published before the answer; so is its end', async () => {
    const created = await change('/api/v1/keys', 'POST', '{"name":"team a"}');
    expect(created).toMatchObject({ httpStatus: 201, name: 'team a', revoked_at: null, last_used_at: null });
    const digest = digestKey(String(created['key']));
    const file = parseKeySnapshot(readFileSync(join(dir, 'keys.json'), 'utf8'));
    expect(file?.keys.get(digest)).toMatchObject({ keyId: created['id'], revoked: false });
    expect(file?.version).toBe(sent.at(-1)?.version);
    const { data } = await list('/api/v1/keys');
    expect(data.map((key) => key['id'])).toContain(created['id']);
    expect(JSON.stringify(data)).not.toContain(created['key']);

    const path = `/api/v1/keys/${String(created['id'])}`;
    const revoked = await change(path, 'DELETE');
    expect(revoked['revoked_at']).toEqual(expect.any(String));
    expect(sent.at(-1)?.upserts).toEqual([expect.objectContaining({ digest, revoked: true })]);
    expect((await change(path, 'DELETE'))['revoked_at']).toBe(revoked['revoked_at']);
    expect(await refusal(ask('/api/v1/keys/99999', { method: 'DELETE' }))).toBe('404 key_not_found');
  });

  test('the file of the keys is written again when somebody has removed it', async () => {
    const created = await change('/api/v1/keys', 'POST', '{"name":"kept"}');
    const file = join(dir, 'keys.json');
    const before = readFileSync(file, 'utf8');
    rmSync(file);
    await pollKeys();
    expect(readFileSync(file, 'utf8')).toBe(before);
    expect(before).toContain(digestKey(String(created['key'])));
  });

  test('a rotated key is replaced by a new one with the same name and settings', async () => {
    const old = await change('/api/v1/keys', 'POST', '{"name":"turn","bodies":"off"}');
    const path = `/api/v1/keys/${String(old['id'])}/rotate`;
    const next = await change(path, 'POST', '{}');
    expect(next).toMatchObject({ httpStatus: 201, name: 'turn', bodies: 'off', revoked_at: null });
    const file = parseKeySnapshot(readFileSync(join(dir, 'keys.json'), 'utf8'));
    expect(file?.keys.get(digestKey(String(old['key'])))?.revoked).toBe(true);
    expect(file?.keys.get(digestKey(String(next['key'])))).toMatchObject({ revoked: false, bodies: 'off' });
    expect(await refusal(ask(path, { method: 'POST', body: '{}' }))).toBe('409 key_revoked');
    expect(await refusal(ask('/api/v1/keys/99999/rotate', { method: 'POST', body: '{}' }))).toBe('404 key_not_found');
  });

  test('with an overlap both keys work until the old one expires, and no longer than it would have', async () => {
    const old = await change('/api/v1/keys', 'POST', '{"name":"overlap","requests_per_minute":60}');
    const path = `/api/v1/keys/${String(old['id'])}/rotate`;
    const before = sent.length;
    const next = await change(path, 'POST', '{"overlap_seconds":3600}');
    expect(next).toMatchObject({ httpStatus: 201, name: 'overlap', revoked_at: null, expires_at: null });
    const upserts = sent.slice(before).map((one) => one.upserts.length);
    const file = parseKeySnapshot(readFileSync(join(dir, 'keys.json'), 'utf8'));
    const oldEntry = file?.keys.get(digestKey(String(old['key'])));
    expect({ changes: upserts, revoked: oldEntry?.revoked }).toEqual({ changes: [2], revoked: false });
    const endsInSeconds = (Number(oldEntry?.expiresAtMs) - Date.parse(String(next['created_at']))) / 1_000;
    expect(endsInSeconds).toBe(3600);
    // One limit for both halves.
    expect(oldEntry).toMatchObject({ limit: { requestsPerMinute: 60 } });
    expect(file?.keys.get(digestKey(String(next['key'])))).toMatchObject({
      revoked: false,
      expiresAtMs: null,
      limit: { requestsPerMinute: 60 },
      firstKeyId: old['id'],
    });
    // A second key in its place would have limits and budgets of its own.
    expect(await refusal(ask(path, { method: 'POST', body: '{"overlap_seconds":3600}' }))).toBe('409 key_replaced');
    const again = await change(`/api/v1/keys/${String(next['id'])}/rotate`, 'POST', '{"overlap_seconds":3600}');
    const later = parseKeySnapshot(readFileSync(join(dir, 'keys.json'), 'utf8'));
    expect(later?.keys.get(digestKey(String(again['key'])))).toMatchObject({ firstKeyId: old['id'] });
    expect(await list('/api/v1/keys')).toMatchObject({
      data: expect.arrayContaining([expect.objectContaining({ id: next['id'], replaced_by: again['id'] })]),
    });
    expect(await refusal(ask(path, { method: 'POST', body: '{"overlap_seconds":-1}' }))).toBe('400 invalid_request');
  });

  test('a key with an end is rotated into one that lives as long, and the old one keeps its end', async () => {
    const expiresAt = new Date(Date.now() + 60_000).toISOString();
    const old = await change('/api/v1/keys', 'POST', JSON.stringify({ name: 'short', expires_at: expiresAt }));
    const next = await change(`/api/v1/keys/${String(old['id'])}/rotate`, 'POST', '{"overlap_seconds":3600}');
    const lives = (key: Record<string, unknown>) =>
      Date.parse(String(key['expires_at'])) - Date.parse(String(key['created_at']));
    expect(lives(next)).toBe(lives(old));
    const { data } = await list('/api/v1/keys');
    expect(data.find((key) => key['id'] === old['id'])).toMatchObject({ expires_at: expiresAt, revoked_at: null });
  });

  test('a key’s settings are changed, and published before the answer; what is left out stays', async () => {
    const made = await change('/api/v1/keys', 'POST', '{"name":"old name","usage":"observe"}');
    expect(made).toMatchObject({ allow_in_address: false });
    const path = `/api/v1/keys/${String(made['id'])}`;
    expect(await change(path, 'PATCH', '{"allow_in_address":true}')).toMatchObject({
      httpStatus: 200,
      name: 'old name',
      usage: 'observe',
      allow_in_address: true,
    });
    expect(sent.at(-1)?.upserts).toEqual([
      expect.objectContaining({ digest: digestKey(String(made['key'])), usage: 'observe', allowInAddress: true }),
    ]);
    expect(await change(path, 'PATCH', '{"name":"new name","usage":null,"bodies":"off"}')).toMatchObject({
      name: 'new name',
      usage: null,
      bodies: 'off',
      allow_in_address: true,
    });
    expect(await change(`${path}/rotate`, 'POST', '{}')).toMatchObject({ name: 'new name', allow_in_address: true });
    expect(await refusal(ask(path, { method: 'PATCH', body: '{"name":"x"}' }))).toBe('409 key_revoked');
    expect(await refusal(ask(path, { method: 'PATCH', body: '{"name":""}' }))).toBe('400 invalid_request');
    expect(await refusal(ask('/api/v1/keys/99999', { method: 'PATCH', body: '{}' }))).toBe('404 key_not_found');
  });

  test('the list of keys says what each was used for', async () => {
    const used = await change('/api/v1/keys', 'POST', '{"name":"used"}');
    const idle = await change('/api/v1/keys', 'POST', '{"name":"idle"}');
    const keyId = Number(used['id']);
    const nowMs = Date.now();
    const call = (number: number, ageMs: number, end: Partial<CallEnd> = {}): SpoolEntry => {
      const requestedAtMs = nowMs - ageMs;
      const time = requestedAtMs.toString(16).padStart(12, '0');
      const id = `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${number.toString(16).padStart(12, '0')}`;
      const begin = callBegin(number, { id, requestedAtMs, keyId });
      return { type: 'end', begin, end: callEnd(number, { id, respondedAtMs: requestedAtMs + 5, ...end }) };
    };
    await store(
      call(7001, 60_000),
      call(7002, 3_600_000, { usage: null }),
      call(7003, 3 * 86_400_000),
      call(7004, 31 * 86_400_000),
    );
    const found = await waitForAnswer(({ id, calls_30d }) => id === keyId && calls_30d !== 0);
    expect(found).toMatchObject({
      calls_24h: 2,
      cost_24h: '0.007171',
      unpriced_calls_24h: 1,
      calls_30d: 3,
      cost_30d: '0.014344',
      unpriced_calls_30d: 1,
    });
    const { data } = await list('/api/v1/keys');
    expect(data.find((key) => key['id'] === idle['id'])).toMatchObject({
      calls_24h: 0,
      cost_24h: '0',
      calls_30d: 0,
      cost_30d: '0',
      unpriced_calls_30d: 0,
    });
  });

  test('while the records cannot be counted in time, the keys are listed without their usage', async () => {
    const blocker = await pool.connect();
    try {
      await blocker.query('begin');
      await blocker.query('lock table llm_requests in access exclusive mode');
      // A fresh answer, for the one that rests.
      const unknown = await waitForAnswer((key) => key['calls_30d'] === null);
      expect(unknown).toMatchObject({ name: 'team a', calls_24h: null, cost_24h: null, cost_30d: null });
    } finally {
      await blocker.query('rollback');
      blocker.release();
    }
  });

  test('when a proxy does not confirm, the answer is 503 and the key is stored', async () => {
    isConfirming = false;
    const answer = await refusal(ask('/api/v1/keys', { method: 'POST', body: '{"name":"unconfirmed"}' }));
    isConfirming = true;
    expect(answer).toBe('503 not_confirmed');
    expect((await list('/api/v1/keys')).data.map((key) => key['name'])).toContain('unconfirmed');
  });

  test('without a database the API says so, and health and status still answer', async () => {
    isDatabaseOpen = false;
    try {
      expect(await refusal(ask('/api/v1/logs'))).toBe('503 database_unavailable');
      expect(await read('/readyz')).toEqual({ status: 'degraded', database: 'down', problem: null });
      expect(await read('/healthz')).toEqual({ status: 'ok' });
      expect((await read('/api/v1/status'))['database']).toMatchObject({ state: 'down' });
    } finally {
      isDatabaseOpen = true;
    }
    expect(await read('/api/v1/status')).toMatchObject({
      version: '0.0.0-test',
      database: { state: 'up' },
      processes: [{ role: 'proxy', pid: 7, state: 'ready' }],
      spool: { bytes: 5, limit_bytes: 9, is_disk_low: false },
      jobs_running: 0,
      brakes: { paused_runs: 0, paused_keys: 0 },
      alerts: { in_trouble: 0, waiting: 0, retried: 0, undelivered: 0 },
      settings: [{ name: 'TOLLGATE_PORT', value: '4141', source: 'default' }],
    });
  });

  test('refused attempts come newest first', async () => {
    expect(await read('/api/v1/attempts')).toMatchObject({
      data: [{ code: 'key_unknown' }, { code: 'key_missing' }],
      not_shown: 3,
    });
  });

  test('bad requests are refused in one shape', async () => {
    for (const [path, code] of [
      ['/api/v1/logs?f=nosuch:eq:1', 'invalid_filter'],
      ['/api/v1/logs?limit=501', 'invalid_request'],
      ['/api/v1/logs?limit=0', 'invalid_request'],
      ['/api/v1/logs?form=2026-01-01', 'invalid_request'],
      ['/api/v1/logs?from=yesterday', 'invalid_request'],
      ['/api/v1/logs?cursor=abc', 'invalid_cursor'],
      ['/api/v1/logs/17', 'invalid_request'],
      ['/api/v1/run', 'invalid_request'],
      ['/api/v1/run?trace_id=%00', 'invalid_request'],
    ] as const)
      expect(await refusal(ask(path))).toBe(`400 ${code}`);
    for (const body of ['{"name":""}', '{"name":"a\\nb"}', '{"title":"x"}', '{', ''])
      expect(await refusal(ask('/api/v1/keys', { method: 'POST', body }))).toBe('400 invalid_request');
    const large = JSON.stringify({ name: 'x'.repeat(70_000) });
    expect(await refusal(ask('/api/v1/keys', { method: 'POST', body: large }))).toBe('413 body_too_large');
  });

  test('filters find exactly the rows that they name', async () => {
    const range = 'sort=requested_at&from=2026-11-28T12:00:01Z&to=2026-11-28T12:00:01.005Z';
    await store(
      ended(1001, {
        metadata: [
          ['Feature', 'search'],
          ['Size', '9'],
        ],
        client: 'a,b',
      }),
      ended(1002, {
        metadata: [
          ['feature', 'SEARCH'],
          ['Size', '10'],
        ],
        client: null,
        traceId: 't-1',
        spanPath: 'a/b',
      }),
      ended(
        1003,
        { metadata: [['Note', '']], client: 'x:y%' },
        { status: 429, outcome: 'upstream_error', usage: null, flags: ['path_repaired'] },
      ),
      ended(
        1004,
        { metadata: [], client: "o'neil" },
        { status: null, outcome: 'client_closed', model: null, flags: ['tap_limit', 'inconsistent'] },
      ),
    );
    const found = async (question: string): Promise<number[]> => {
      const { data } = await list(`/api/v1/logs?${range}&${question}`);
      return data.map((row) => Number.parseInt(String(row['id']).slice(-12), 16));
    };
    expect(await found('')).toEqual([1001, 1002, 1003, 1004]);
    expect(await found('exclude_runs=true')).toEqual([1001, 1003, 1004]);
    const cases: readonly (readonly [string, readonly number[]])[] = [
      ['client:eq:a%2Cb', [1001]],
      ['client:eq:x%3Ay%25', [1003]],
      ["client:eq:o'neil", [1004]],
      ['client:ne:a%2Cb', [1002, 1003, 1004]],
      ['client:in:a%2Cb,x%3Ay%25', [1001, 1003]],
      ['client:nin:a%2Cb,x%3Ay%25', [1002, 1004]],
      ['client:has', [1001, 1003, 1004]],
      ['client:nohas', [1002]],
      ['client:prefix:x', [1003]],
      ['client:contains:%25', [1003]],
      ['client:contains:_', []],
      ['status:gte:400', [1003]],
      ['status:in:200,429', [1001, 1002, 1003]],
      ['status:nohas', [1004]],
      ['model:nohas', [1004]],
      ['streamed:eq:true', [1001, 1002, 1003, 1004]],
      ['total_cost:nohas', [1003]],
      ['total_cost:gt:0.001171', [1002, 1004]],
      ['total_cost:eq:0.001171', [1001]],
      ['input_tokens:lt:1102', [1001]],
      ['flags:eq:path_repaired', [1003]],
      ['flags:in:path_repaired,tap_limit', [1003, 1004]],
      ['flags:ne:tap_limit', [1001, 1002, 1003]],
      ['flags:nohas', [1001, 1002]],
      [`id:eq:${idOf(1002)}`, [1002]],
      ['requested_at:gt:2026-11-28T12:00:01.002Z', [1003, 1004]],
      ['trace_id:eq:t-1', [1002]],
      ['metadata.Feature:eq:search', [1001]],
      ['metadata.FEATURE:in:search,SEARCH', [1001, 1002]],
      ['metadata.Feature:ne:search', [1002, 1003, 1004]],
      ['metadata.feature:has', [1001, 1002]],
      ['metadata.feature:nohas', [1003, 1004]],
      ['metadata.Note:eq:', [1003]],
      ['metadata.Size:gt:9', [1002]],
      ['metadata.Size:lte:10', [1001, 1002]],
      ['metadata.Feature:prefix:sea', [1001]],
      ['metadata.Feature:contains:ARC', [1002]],
      ['usage:has', [1001, 1002, 1004]],
    ];
    for (const [filter, expected] of cases)
      expect({ filter, found: await found(`f=${encodeURIComponent(filter)}`) }).toEqual({ filter, found: expected });
    expect(await found('f=status:eq:200&f=metadata.Size:eq:10')).toEqual([1002]);
  });

  test('money is exact plain text, counts are numbers, and what is not known is null', async () => {
    expect(await read(`/api/v1/logs/${idOf(1001)}`)).toMatchObject({
      state: 'ended',
      total_cost: '0.001171',
      input_cost: '0.001101',
      cache_read_cost: null,
      input_tokens: 1101,
      requested_at: '2026-11-28T12:00:01.001Z',
      raw_metadata: { Feature: 'search', Size: '9' },
      connect_ms: null,
    });
    expect(await read(`/api/v1/logs/${idOf(1003)}`)).toMatchObject({ total_cost: null, input_tokens: null });
    expect(await refusal(ask(`/api/v1/logs/${idOf(77)}`))).toBe('404 log_not_found');
  });

  test('an open call is found by its id, and its run counts it as open', async () => {
    await store({ type: 'begin', begin: begun(1500, { traceId: 'open run' }) });
    expect(await read(`/api/v1/logs/${idOf(1500)}`)).toMatchObject({
      state: 'open',
      model_requested: 'gpt-5',
      outcome: null,
    });
    expect(await read('/api/v1/run?trace_id=open%20run')).toMatchObject({ calls: 0, open_calls: 1, steps: [] });
    expect(await refusal(ask('/api/v1/run?trace_id=none'))).toBe('404 run_not_found');
  });

  test('bodies are served as they were, as plain text to be saved', async () => {
    const bytes = Buffer.from('<script>alert(1)</script>\u0000\u00ff', 'latin1');
    await store({ type: 'body', body: { ...callBody(1600, 'response', bytes), id: idOf(1600) } }, ended(1600));
    const response = await ask(`/api/v1/logs/${idOf(1600)}/response`);
    expect(response.status).toBe(200);
    expect(Buffer.from(await response.arrayBuffer())).toEqual(bytes);
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(response.headers.get('content-disposition')).toMatch(/^attachment/);
    expect(await refusal(ask(`/api/v1/logs/${idOf(1600)}/request`))).toBe('404 body_not_found');
    expect((await read(`/api/v1/logs/${idOf(1600)}`))['bodies']).toEqual({
      request: null,
      response: { content_type: 'application/json', content_encoding: null, total_bytes: 27, head_bytes: 27 },
    });
  });

  test('paging returns each row exactly once while new rows arrive before, between and behind', async () => {
    const range = 'from=2026-11-28T12:00:02Z&to=2026-11-28T12:00:03Z';
    const before = Array.from({ length: 25 }, (_, index) => 2010 + index * 10);
    await store(...before.map((number) => ended(number)));
    const seen: string[] = [];
    let cursor: string | null = null;
    for (let page = 0; page === 0 || cursor !== null; page += 1) {
      const more: string = cursor === null ? '' : `&cursor=${cursor}`;
      const answer = await list(`/api/v1/logs?limit=4&${range}${more}`);
      seen.push(...answer.data.map((row) => String(row['id'])));
      cursor = answer.next_cursor;
      await store(ended(2900 + page), ended(2001 + page), ended(2105 + page * 10));
    }
    const old = new Set(before.map(idOf));
    expect(seen.filter((id) => old.has(id)).sort()).toEqual([...old].sort());
    expect(new Set(seen).size).toBe(seen.length);
    const other = await list(`/api/v1/logs?limit=4&${range}`);
    const changed = `/api/v1/logs?limit=4&f=status:eq:200&${range}&cursor=${other.next_cursor}`;
    expect(await refusal(ask(changed))).toBe('400 invalid_cursor');
  });

  test('paging returns each run exactly once although runs that were not read yet move to the front', async () => {
    const range = 'from=2026-11-28T12:01:00Z';
    const names = Array.from({ length: 9 }, (_, index) => `move/${index}%`);
    const call = (number: number, traceId: string): SpoolEntry =>
      ended(number, { traceId }, { respondedAtMs: NOON_MS + number + 1 });
    await store(...names.map((name, index) => call(60_000 + index, name)));
    const seen: string[] = [];
    let cursor: string | null = null;
    for (let page = 0; page === 0 || cursor !== null; page += 1) {
      const more: string = cursor === null ? '' : `&cursor=${cursor}`;
      const answer = await list(`/api/v1/runs?limit=2&${range}${more}`);
      seen.push(...answer.data.map((row) => String(row['trace_id'])));
      cursor = answer.next_cursor;
      // A run that was read and one that was not get a later call each, and a new run begins.
      await store(call(61_000 + page, 'move/8%'), call(61_100 + page, 'move/0%'), call(61_200 + page, `new ${page}`));
    }
    expect(seen.toSorted()).toEqual(names);
  });

  test('costs are answered by group and day, and a question that makes no sense is refused', async () => {
    const dayMs = 86_400_000;
    const at = (number: number, days: number): SpoolEntry => {
      const requestedAtMs = NOON_MS + days * dayMs + number;
      return ended(number, { requestedAtMs, client: 'costs' }, { model: days === 40 ? 'one' : 'two' });
    };
    await store(at(71_001, 40), at(71_002, 41));
    const window = 'from=2027-01-01&to=2027-02-01&f=client:eq:costs';
    const answer = await read(`/api/v1/costs?${window}&interval=day&limit=1&tz=Europe/Berlin`);
    const sums = { calls: 1, errors: 0, unpriced_calls: 0, total_cost: '0.071172' };
    expect(answer).toMatchObject({
      from: '2027-01-01T00:00:00.000Z',
      to: '2027-02-01T00:00:00.000Z',
      tz: 'Europe/Berlin',
      interval: 'day',
      source: 'records',
      totals: { calls: 2, total_cost: '0.142343' },
      data: [{ group: ['two'], ...sums, buckets: [{ start: '2027-01-07T23:00:00.000Z', total_cost: '0.071172' }] }],
      rest: { groups: 1, calls: 1, total_cost: '0.071171', buckets: [{ start: '2027-01-06T23:00:00.000Z' }] },
    });
    expect(answer['bucket_starts']).toHaveLength(32);
    for (const wrong of [
      'group_by=status',
      'group_by=metadata.',
      'group_by=metadata.a,metadata.A',
      'group_by=model,key,provider',
      'tz=Mars/Base',
      'tz=X%2B3',
      'tz=%2B05:30',
      'from=2027-02-01&to=2027-01-01',
      'interval=hour&from=2020-01-01',
      'limit=201',
      'by=model',
    ])
      expect(`${wrong} ${await refusal(ask(`/api/v1/costs?${wrong}`))}`).toBe(`${wrong} 400 invalid_request`);
    expect(await refusal(ask('/api/v1/costs?f=nothing:eq:1'))).toBe('400 invalid_filter');
  });

  test('the live tail waits for older transactions, so that none of their rows is passed over', async () => {
    const start = await readTailEnd(pool);
    const slow = await pool.connect();
    try {
      await slow.query('begin');
      await slow.query('select pg_current_xact_id()');
      await store(ended(3500));
      expect(await tailLogs(pool, 1, [], start, 10)).toEqual([]);
    } finally {
      slow.release(true);
    }
    await until(async () => (await tailLogs(pool, 1, [], start, 10)).length > 0);
    expect((await tailLogs(pool, 1, [], start, 10)).map(({ position }) => position.id)).toEqual([idOf(3500)]);
  });

  test('the live tail brings new rows that pass the filter, and resumes after the last event', async () => {
    const abort = new AbortController();
    const path = '/api/v1/logs/stream?f=metadata.Tail:eq:yes';
    const response = await ask(path, { signal: abort.signal });
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    const text = readUntil(response, (got) => got.split('event: log').length > 2 && got.endsWith('\n\n'));
    const metadata: CallBegin['metadata'] = [['Tail', 'yes']];
    await store(ended(3001, { metadata }), ended(3002), ended(3003, { metadata }));
    const got = await text;
    abort.abort();
    expect([...got.matchAll(/"id":"([^"]+)"/g)].map((match) => match[1])).toEqual([idOf(3001), idOf(3003)]);

    const again = new AbortController();
    const lastId = /^id: (.+)$/m.exec(got)?.[1] ?? '';
    const resumed = await ask(path, { signal: again.signal, lastId });
    const rest = await readUntil(resumed, (more) => more.includes('event: log') && more.endsWith('\n\n'));
    again.abort();
    expect([...rest.matchAll(/"id":"([^"]+)"/g)].map((match) => match[1])).toEqual([idOf(3003)]);
    expect(await refusal(ask(path, { lastId: 'x' }))).toBe('400 invalid_request');
  });
});

async function until(isDone: () => Promise<boolean>): Promise<void> {
  for (let round = 0; round < 200 && !(await isDone()); round += 1) await sleep(20);
}

async function readUntil(response: Response, isEnough: (text: string) => boolean): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  if (response.body === null) return text;
  const reader = response.body.getReader();
  while (!isEnough(text)) {
    const { value, done } = await reader.read();
    if (done) break;
    text += decoder.decode(value, { stream: true });
  }
  return text;
}
