/**
 * The life of one proxy process: start message, keys, spool, listener; then key changes and metrics; then draining. It
 * is started by the supervisor and ends with it.
 */
import { Server } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ChildChannel, DownMessage, KeyChange, ProxyMetrics, ProxyStart, RejectedAttempt } from '../channel.ts';
import { applyKeyChange, readKeySnapshotFile } from '../keys/key-snapshot.ts';
import { createLog } from '../log.ts';
import { countConnections, readOpenFileLimit } from '../sockets/open-file-limit.ts';
import { openSpoolWriter } from '../spool/spool-writer.ts';
import { STANDBY_NAME } from '../spool/standby.ts';
import { createAwsCredentials } from './aws/aws-credentials.ts';
import { createGateway, type Gateway } from './gateway.ts';
import { endCallsOfEndedKeys, watchKeys } from './key-end.ts';
import { createProxyServer, type ProxyServer, SERVER_LIMITS } from './proxy-server.ts';
import { createUpstreamClient } from './upstream/upstream-client.ts';
import { DEFAULT_LIMITS } from './upstream/upstream-limits.ts';

/** Within this the supervisor is told of refused attempts and figures. */
const REPORT_INTERVAL_MS = 1_000;
/** Refused attempts that are shown, of each interval; the rest is counted. */
const SHOWN_ATTEMPTS = 20;
/** A process that has lost its supervisor ends its calls within this. */
const ORPHAN_GRACE_MS = 4_000;
/** After the listener is closed, idle connections are still open for a moment, so that a request on its way arrives. */
const IDLE_CLOSE_DELAY_MS = 300;
/** Connections that wait while this process is replaced; Node's default of 511 is less than a busy second brings. */
const LISTEN_BACKLOG = 4_096;
/** Turns of the event loop, before the port is closed, in which connections that wait are taken. */
const MAX_ACCEPT_TURNS = 200;
const DRAIN_POLL_MS = 20;
/** For the control process to read the keys of now; a database that is away may not keep a node from its calls. */
const OLD_KEYS_LIMIT_MS = 10_000;
/** For writing the endings of cut calls. */
const CUT_SETTLE_MS = 500;

/** Waits for the start message. The process ends when it is told to, or when its supervisor is gone. */
export function runProxyProcess(channel: ChildChannel): void {
  channel.onMessage((message) => {
    if (message.type === 'start' && message.role === 'proxy') void startProxy(channel, message); // It ends the process.
  });
}

async function startProxy(channel: ChildChannel, start: ProxyStart): Promise<void> {
  const { config } = start;
  // Before it listens there is no call to wait for, and nothing that could be drained.
  let isListening = false;
  const leaveEarly = () => {
    if (!isListening) process.exit(0);
  };
  channel.onMessage(({ type }) => {
    if (type === 'stop') leaveEarly();
  });
  channel.onDisconnect(leaveEarly);
  const log = createLog({ level: config.logLevel, role: 'proxy' });
  const attempts = createAttemptSampler();
  const spool = openSpoolWriter({
    dir: join(start.spoolDir, start.spoolName),
    standbyDir: join(config.dataDir, STANDBY_NAME),
    durability: config.durability,
    onFull: config.onFull,
    log,
  });
  const maxConnections = countConnections(readOpenFileLimit());
  const gateway = createGateway({
    settings: config,
    routes: config,
    keys: { snapshot: await readKeySnapshotFile(start.keysFile), lastOf: new WeakMap() },
    awsCredentials: createAwsCredentials({ log }),
    upstream: await createUpstreamClient(config.egress, { ...DEFAULT_LIMITS, maxConnections }),
    spool,
    reportAttempt: attempts.add,
    log,
  });
  if (start.clock !== undefined) gateway.clock.set(start.clock);
  if (start.areKeysOld === true) {
    gateway.areKeysOld = true;
    setTimeout(() => {
      gateway.areKeysOld = false;
    }, OLD_KEYS_LIMIT_MS);
  }
  const limits = { ...SERVER_LIMITS, maxConnections, keepAliveMs: config.keepAliveSeconds * 1_000 };
  const listener = createProxyServer(gateway, limits, start.tls);
  watchKeys(gateway);
  const report = setInterval(() => sendReport(channel, gateway, start.spoolName, attempts), REPORT_INTERVAL_MS);
  let isStopping = false;
  /** A later wish to stop may shorten the time. */
  let deadlineMs = Number.POSITIVE_INFINITY;

  async function stop(graceMs: number, isReplaced = false): Promise<void> {
    deadlineMs = Math.min(deadlineMs, performance.now() + graceMs);
    gateway.isReplaced = isReplaced;
    if (isStopping) return;
    isStopping = true;
    await drain(listener, gateway, () => deadlineMs);
    clearInterval(report);
    await spool.close();
    // The last figures: of a process that has ended nothing else is left to say what it had accepted.
    sendReport(channel, gateway, start.spoolName, attempts);
    await gateway.upstream.close();
    process.exit(0);
  }

  function onMessage(message: DownMessage): void {
    switch (message.type) {
      case 'stop':
        void stop(message.graceMs, message.isReplaced); // It ends the process, whatever happens.
        break;
      case 'keys-changed':
        void applyKeys(channel, gateway, start.keysFile, message.change); // It logs its own failure.
        break;
      case 'stop-announced':
        gateway.isDraining = true;
        listener.sessions.announceEnd();
        break;
      case 'tls-renewed':
        listener.renewTls(message.identity);
        break;
      case 'clock':
        gateway.clock.set(message.reading);
        break;
      case 'start':
      case 'keys-published':
      case 'live-spools':
      case 'status':
        break;
    }
  }
  channel.onMessage(onMessage);
  channel.onDisconnect(() => {
    log.warn('the supervisor is gone; ending');
    void stop(ORPHAN_GRACE_MS); // It ends the process, whatever happens.
  });

  isListening = true;
  // By position: with a file descriptor Node takes no notice of the option of that name.
  listener.port.listen({ fd: start.listenFd }, LISTEN_BACKLOG, () => channel.send({ type: 'ready' }));
}

/** Applies a change, or reads the whole snapshot when this process does not have the version the change starts from. */
async function applyKeys(channel: ChildChannel, gateway: Gateway, keysFile: string, change: KeyChange): Promise<void> {
  const { keys, log } = gateway;
  const current = keys.snapshot;
  if (current !== null && current.version >= change.version) {
    gateway.areKeysOld = false;
    channel.send({ type: 'keys-applied', version: current.version });
    return;
  }
  const changed = current === null ? 'reload' : applyKeyChange(current, change);
  const next = changed === 'reload' ? await readKeySnapshotFile(keysFile) : changed;
  if (next === null || next.version < change.version) {
    log.error({ version: change.version }, 'the changed keys could not be read; the keys before stay in force');
    return;
  }
  keys.snapshot = next;
  gateway.areKeysOld = false;
  endCallsOfEndedKeys(gateway);
  channel.send({ type: 'keys-applied', version: next.version });
}

/**
 * Closing the port resets connections that the system has made and we have not taken yet: a proxy in front would see calls
 * fail that it may not repeat. So it is closed in a turn of the event loop in which none came.
 */
async function untilNobodyWaits(port: ProxyServer['port']): Promise<void> {
  let arrived = 0;
  const count = () => {
    arrived += 1;
  };
  port.on('connection', count);
  for (let turn = 0; turn < MAX_ACCEPT_TURNS; turn += 1) {
    const before = arrived;
    await new Promise((resolve) => setImmediate(resolve));
    if (turn > 0 && arrived === before) break;
  }
  port.off('connection', count);
}

async function drain(
  { port, server, sessions }: ProxyServer,
  gateway: Gateway,
  deadlineMs: () => number,
): Promise<void> {
  gateway.isDraining = true;
  sessions.announceEnd();
  let isClosed = false;
  await untilNobodyWaits(port);
  // Not `http.Server.close`, which also closes idle connections at once, on which a request may be on its way.
  Server.prototype.close.call(port, () => {
    isClosed = true;
  });
  const isOver = () => isClosed || performance.now() >= deadlineMs();
  // A kept connection ends with its next answer, or by its own timeout: who closes it earlier meets a request on its
  // way. One who stops altogether has not that time; there the connections are of no use to anybody.
  const idleUntilMs = performance.now() + IDLE_CLOSE_DELAY_MS;
  while (!isOver() && (gateway.isReplaced === true || performance.now() < idleUntilMs)) await sleep(DRAIN_POLL_MS);
  sessions.close();
  // Not only open answers: a call that waits for its begin, or whose ending is being written, is in flight as well. And
  // a connection may still have the last bytes of an answer to take when its call is over.
  const { counters } = gateway;
  while ((counters.inFlight > 0 || !isClosed) && performance.now() < deadlineMs()) {
    server.closeIdleConnections();
    await sleep(DRAIN_POLL_MS);
  }
  if (counters.inFlight > 0)
    gateway.log.warn({ calls: counters.inFlight }, 'cutting calls that did not end within the time for draining');
  for (const call of gateway.openCalls) call.shutDown();
  // Whatever comes now would have no record any more, so it may not come.
  sessions.destroyAll();
  server.closeAllConnections();
  const settledMs = performance.now() + CUT_SETTLE_MS;
  while (counters.inFlight > 0 && performance.now() < settledMs) await sleep(DRAIN_POLL_MS);
}

interface AttemptSampler {
  add(attempt: RejectedAttempt): void;
  take(): { attempts: RejectedAttempt[]; notShown: number };
}

/** A flood of bad keys may not fill anything: of each interval the first few are shown, the rest is counted. */
function createAttemptSampler(): AttemptSampler {
  let attempts: RejectedAttempt[] = [];
  let notShown = 0;
  return {
    add(attempt) {
      if (attempts.length < SHOWN_ATTEMPTS) attempts.push(attempt);
      else notShown += 1;
    },
    take() {
      const taken = { attempts, notShown };
      attempts = [];
      notShown = 0;
      return taken;
    },
  };
}

function sendReport(channel: ChildChannel, gateway: Gateway, spoolName: string, attempts: AttemptSampler): void {
  const stats = gateway.spool.stats();
  const taken = attempts.take();
  if (taken.attempts.length > 0) channel.send({ type: 'rejected', ...taken });
  channel.send({
    type: 'metrics',
    metrics: {
      openCalls: gateway.openCalls.size,
      callsTotal: gateway.counters.calls,
      rejectedTotal: gateway.counters.rejected,
      refusals: Object.fromEntries(gateway.counters.refusals),
      spoolName,
      acceptedTotal: gateway.counters.accepted,
      inFlight: gateway.counters.inFlight,
      keptTotal: stats.endsKept,
      recordsLost: stats.recordsLost,
      bodiesDropped: stats.bodiesDropped,
      compactedTotal: stats.compacted,
      spoolPendingBytes: stats.pendingBytes,
      refusedFullTotal: gateway.counters.refusedFull,
      droppedConnections: gateway.counters.droppedConnections,
      ...describeHandshakes(gateway),
      rssBytes: process.memoryUsage.rss(),
    },
  });
}

function describeHandshakes({ handshakes }: Gateway): Pick<ProxyMetrics, 'failedHandshakes' | 'latestFailedHandshake'> {
  if (handshakes === undefined) return {};
  const { failed, latest } = handshakes;
  return latest === null ? { failedHandshakes: failed } : { failedHandshakes: failed, latestFailedHandshake: latest };
}
