/**
 * A proxy process's insides in the test's own process: the real server, upstream client and spool, without supervisor
 * and database. What was recorded is read back from the spool.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import type { Server } from 'node:http';
import type { Server as Listener } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pino } from 'pino';
import { createGatewayKey, digestKey } from '../../src/keys/gateway-key.ts';
import { createKeySnapshot } from '../../src/keys/key-snapshot.ts';
import { createAwsCredentials } from '../../src/proxy/aws/aws-credentials.ts';
import { type CallId, createCallIds } from '../../src/proxy/call-id.ts';
import { createGateway, type Gateway } from '../../src/proxy/gateway.ts';
import type { Http2Sessions } from '../../src/proxy/http2/http2-sessions.ts';
import { IdleSweep } from '../../src/proxy/idle-sweep.ts';
import { createProxyServer, SERVER_LIMITS, type ServerLimits } from '../../src/proxy/proxy-server.ts';
import { createUpstreamClient } from '../../src/proxy/upstream/upstream-client.ts';
import { DEFAULT_LIMITS, type UpstreamLimits } from '../../src/proxy/upstream/upstream-limits.ts';
import { SPOOL_START } from '../../src/spool/cursor.ts';
import { openSpoolReader } from '../../src/spool/spool-reader.ts';
import { openSpoolWriter } from '../../src/spool/spool-writer.ts';
import type { CallBegin, CallEnd, ProviderName, SpoolEntry } from '../../src/vocabulary/call-record.ts';
import type { KeyEntry, RejectedAttempt, TlsIdentity } from '../../src/vocabulary/channel.ts';
import { openLocalLimits } from './local-limits.ts';

/** For a test that waits for a client to be given up. */
const STALL_SWEEP_MS = 20;

export interface RecordedCall {
  readonly begin: CallBegin;
  readonly end: CallEnd;
}

export interface InProcessProxy {
  readonly port: number;
  readonly base: string;
  readonly key: string;
  readonly gateway: Gateway;
  /** What listens; with TLS it stands in front of `server`. */
  readonly listener: Listener;
  readonly server: Server;
  readonly sessions: Http2Sessions;
  readonly renewTls: (identity: TlsIdentity) => void;
  readonly attempts: readonly RejectedAttempt[];
  /** The whole spool: a folder with one of this process in it. */
  readonly spoolDir: string;
  /** Everything in the spool so far, in order. */
  readonly entries: () => Promise<SpoolEntry[]>;
  /** The record of a call by its id; waits for it. */
  readonly waitForCall: (id: string) => Promise<RecordedCall>;
  /** The only call, or the last one begun. */
  readonly lastCall: () => Promise<RecordedCall>;
  /** The last websocket begun, once it has ended, and its turns in the order of their ends. */
  readonly lastConnection: () => Promise<RecordedCall & { readonly turns: readonly RecordedCall[] }>;
  readonly close: () => Promise<void>;
}

export interface ProxyParts {
  /** One gateway key for several proxies. */
  readonly key?: string;
  readonly keyEntry?: Partial<KeyEntry>;
  readonly budgets?: Gateway['budgets'];
}

/** Every provider goes to `origin`, and what `routes` says. */
export async function startProxy(
  origin: string,
  settings: Partial<Gateway['settings']> = {},
  routes: Partial<Gateway['routes']> = {},
  limits: UpstreamLimits = DEFAULT_LIMITS,
  nextCallId: () => CallId = createCallIds(),
  patience: Partial<ServerLimits> & { readonly stallMs?: number } = {},
  tls: TlsIdentity | null = null,
  parts: ProxyParts = {},
): Promise<InProcessProxy> {
  const dir = mkdtempSync(join(tmpdir(), 'tollgate-proxy-'));
  const spoolDir = join(dir, 'spool', 'p1');
  const log = pino({ level: 'silent' });
  const key = parts.key ?? createGatewayKey();
  const attempts: RejectedAttempt[] = [];
  const purses = openLocalLimits();
  const upstream = { origin, region: null };
  const names: readonly ProviderName[] = [
    'openai',
    'anthropic',
    'gemini',
    'bedrock',
    'fireworks',
    'together',
    'deepseek',
  ];
  const gateway = createGateway({
    settings: {
      bodies: 'full',
      usage: 'ask',
      onClientAbort: 'cancel',
      onRevoke: 'finish',
      onFull: 'open',
      node: 'test',
      clientAddress: 'keep',
      trustedProxies: [],
      ...settings,
    },
    routes: { upstreams: Object.fromEntries(names.map((name) => [name, upstream])), aliases: {}, ...routes },
    keys: {
      snapshot: createKeySnapshot(1, [
        {
          digest: digestKey(key),
          keyId: 7,
          accountId: 1,
          revoked: false,
          expiresAtMs: null,
          usage: null,
          bodies: null,
          ...parts.keyEntry,
        },
      ]),
      lastOf: new WeakMap(),
    },
    awsCredentials: createAwsCredentials({ log }),
    upstream: createUpstreamClient({ httpProxy: null, httpsProxy: null, noProxy: null }, limits),
    spool: openSpoolWriter({ dir: spoolDir, durability: 'process', log }),
    nextCallId,
    ...(patience.stallMs === undefined ? {} : { stalledClients: new IdleSweep(patience.stallMs, STALL_SWEEP_MS) }),
    limits: purses,
    reportAttempt: (attempt) => attempts.push(attempt),
    ...(parts.budgets === undefined ? {} : { budgets: parts.budgets }),
    log,
  });
  const { port, server, sessions, renewTls } = createProxyServer(gateway, { ...SERVER_LIMITS, ...patience }, tls);
  await new Promise<void>((resolve) => port.listen(0, '127.0.0.1', resolve));
  const address = port.address();
  if (address === null || typeof address === 'string') throw new Error('no port');

  async function entries(): Promise<SpoolEntry[]> {
    const reader = openSpoolReader(spoolDir, SPOOL_START);
    const found: SpoolEntry[] = [];
    for (;;) {
      const batch = await reader.read({ maxEnds: 1_000, maxBytes: 64 * 1024 * 1024 }, false);
      for (const { entry } of batch.entries) found.push(entry);
      if (batch.isDrained) return found;
    }
  }

  async function waitFor(matches: (begin: CallBegin) => boolean): Promise<RecordedCall> {
    const deadlineMs = performance.now() + 10_000;
    for (;;) {
      const ends = (await entries()).filter((entry) => entry.type === 'end').filter((entry) => matches(entry.begin));
      const last = ends.at(-1);
      if (last !== undefined) return { begin: last.begin, end: last.end };
      if (performance.now() > deadlineMs) throw new Error('no such record in the spool');
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  return {
    port: address.port,
    base: `${tls === null ? 'http' : 'https'}://127.0.0.1:${address.port}`,
    key,
    gateway,
    listener: port,
    server,
    sessions,
    renewTls,
    attempts,
    spoolDir: dirname(spoolDir),
    entries,
    waitForCall: (id) => waitFor((begin) => begin.id === id),
    lastCall: async () => {
      const begun = (await entries()).filter((entry) => entry.type === 'begin').at(-1);
      if (begun === undefined) throw new Error('no call was recorded');
      return waitFor((begin) => begin.id === begun.begin.id);
    },
    lastConnection: async () => {
      const begins = (await entries()).flatMap((entry) => (entry.type === 'begin' ? [entry.begin] : []));
      const last = begins.findLast((begin) => begin.connectionId === begin.id);
      if (last === undefined) throw new Error('no websocket was recorded');
      const connection = await waitFor((begin) => begin.id === last.id);
      const turns = (await entries()).flatMap((entry) =>
        entry.type === 'end' && entry.begin.connectionId === last.id && entry.begin.id !== last.id
          ? [{ begin: entry.begin, end: entry.end }]
          : [],
      );
      return { ...connection, turns };
    },
    close: async () => {
      // Connections that became websockets are no longer the server's.
      for (const call of gateway.openCalls) call.shutDown();
      server.closeAllConnections();
      sessions.destroyAll();
      await new Promise((resolve) => port.close(resolve));
      await gateway.spool.close();
      gateway.idleBodies.close();
      gateway.stalledClients.close();
      purses.close();
      await gateway.upstream.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
