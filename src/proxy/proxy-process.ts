/** The life of one proxy process, from its start message through key changes and metrics to draining. */
import { Server } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { applyKeyChange, readKeySnapshotFile } from '../keys/key-snapshot.ts';
import { countConnections, readOpenFileLimit } from '../sockets/open-file-limit.ts';
import { PREPARED_NAME } from '../spool/prepared-directory.ts';
import { openSpoolWriter } from '../spool/spool-writer.ts';
import type {
  ChildChannel,
  DownMessage,
  KeyChange,
  ProxyMetrics,
  ProxyStart,
  RejectedAttempt,
} from '../vocabulary/channel.ts';
import { createClock } from '../vocabulary/clock.ts';
import { createLog } from '../vocabulary/log.ts';
import { createAwsCredentials } from './aws/aws-credentials.ts';
import { openProxyBudgets } from './budget/open-proxy-budgets.ts';
import { createGateway, type Gateway } from './gateway.ts';
import { applyCredentials } from './kept-credentials.ts';
import { endCallsOfEndedKeys, watchKeys } from './key-end.ts';
import { LimitPurses } from './limits/limit-purses.ts';
import { applyPauses } from './pauses.ts';
import { createProxyServer, type ProxyServer, SERVER_LIMITS } from './proxy-server.ts';
import { createUpstreamClient } from './upstream/upstream-client.ts';
import { DEFAULT_LIMITS } from './upstream/upstream-limits.ts';

/** How often refused attempts and metrics are reported. */
const REPORT_INTERVAL_MS = 1_000;
/** Refused attempts shown for each interval; the rest is counted. */
const SHOWN_ATTEMPTS = 20;
/** Grace for open calls after the supervisor is gone. */
const ORPHAN_GRACE_MS = 4_000;
/** Idle connections stay open this long after the listener closed, for requests on their way. */
const IDLE_CLOSE_DELAY_MS = 300;
/** Node's default of 511 is less than a busy second brings while this process is replaced. */
const LISTEN_BACKLOG = 4_096;
/** Turns of the event loop in which waiting connections are accepted before the port closes. */
const MAX_ACCEPT_TURNS = 200;
/** An idle turn takes a tenth of it. */
const QUIET_TURN_MS = 0.2;
const DRAIN_POLL_MS = 20;
/** Old keys are trusted after this, so that a missing database cannot keep a node from serving. */
const OLD_KEYS_LIMIT_MS = 10_000;
const CUT_SETTLE_MS = 500;
const LIMIT_NOTICE_MS = 60_000;

export function runProxyProcess(channel: ChildChannel): void {
  channel.onMessage((message) => {
    if (message.type === 'start' && message.role === 'proxy') void startProxy(channel, message); // It ends the process.
  });
}

async function startProxy(channel: ChildChannel, start: ProxyStart): Promise<void> {
  const { config } = start;
  // Before it listens, nothing has to be drained.
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
    preparedDir: join(config.dataDir, PREPARED_NAME),
    durability: config.durability,
    onFull: config.onFull,
    log,
  });
  const clock = createClock();
  const maxConnections = countConnections(readOpenFileLimit());
  const gateway = createGateway({
    settings: config,
    routes: config,
    keys: { snapshot: await readKeySnapshotFile(start.keysFile), lastOf: new WeakMap() },
    awsCredentials: createAwsCredentials({ log }),
    upstream: createUpstreamClient(config.egress, { ...DEFAULT_LIMITS, maxConnections }),
    spool,
    limits: new LimitPurses(channel.send, createLimitNotice(log)),
    clock,
    budgets: openProxyBudgets({
      dataDir: config.dataDir,
      process: start.spoolName,
      durability: config.durability,
      clock,
      log,
    }),
    reportAttempt: attempts.add,
    log,
  });
  if (start.clock !== undefined) gateway.clock.set(start.clock);
  applyPauses(gateway, start.pauses ?? []);
  applyCredentials(gateway.credentials, start.credentials ?? [], config.credentialKeys);
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
  let deadlineMs = Number.POSITIVE_INFINITY;

  async function stop(graceMs: number, isReplaced = false): Promise<void> {
    deadlineMs = Math.min(deadlineMs, performance.now() + graceMs);
    gateway.isReplaced = isReplaced;
    if (isStopping) return;
    isStopping = true;
    await drain(listener, gateway, () => deadlineMs);
    clearInterval(report);
    await spool.close();
    // The last report, so that the accepted calls of an ended process are known.
    sendReport(channel, gateway, start.spoolName, attempts);
    gateway.budgets?.close();
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
      case 'pauses':
        applyPauses(gateway, message.pauses);
        break;
      case 'credentials':
        applyCredentials(gateway.credentials, message.credentials, config.credentialKeys);
        break;
      case 'clock':
        gateway.clock.set(message.reading);
        break;
      case 'limit-answer':
        gateway.limits?.onAnswer(message);
        break;
      case 'limit-recall':
        gateway.limits?.onRecall(message.subject);
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
  // The backlog is positional: with a file descriptor Node ignores the option.
  listener.port.listen({ fd: start.listenFd }, LISTEN_BACKLOG, () => channel.send({ type: 'ready' }));
}

/** Applies a change, or reloads the snapshot when the change starts from another version. */
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
 * Closing the port resets connections that the system has accepted and we have not, so it waits for a turn of the event
 * loop that brought none and was too short for one to have come.
 */
async function untilNobodyWaits(port: ProxyServer['port']): Promise<void> {
  let arrived = 0;
  const count = () => {
    arrived += 1;
  };
  port.on('connection', count);
  for (let turn = 0; turn < MAX_ACCEPT_TURNS; turn += 1) {
    const before = arrived;
    const startedMs = performance.now();
    await new Promise((resolve) => setImmediate(resolve));
    if (turn > 0 && arrived === before && performance.now() - startedMs < QUIET_TURN_MS) break;
  }
  port.off('connection', count);
}

async function drain(
  { port, server, sessions, connections }: ProxyServer,
  gateway: Gateway,
  deadlineMs: () => number,
): Promise<void> {
  gateway.isDraining = true;
  sessions.announceEnd();
  let isClosed = false;
  await untilNobodyWaits(port);
  // `http.Server.close` would also close idle connections, on which a request may be on its way.
  Server.prototype.close.call(port, () => {
    isClosed = true;
  });
  const isOver = () => isClosed || performance.now() >= deadlineMs();
  // A replaced process lets kept connections end by themselves; a stopping one has no time for that.
  const idleUntilMs = performance.now() + IDLE_CLOSE_DELAY_MS;
  while (!isOver() && (gateway.isReplaced === true || performance.now() < idleUntilMs)) await sleep(DRAIN_POLL_MS);
  sessions.close();
  // Calls waiting for their begin or end record are in flight too, and a finished call may still have bytes to send.
  const { counters } = gateway;
  while ((counters.inFlight > 0 || !isClosed) && performance.now() < deadlineMs()) {
    connections.close();
    await sleep(DRAIN_POLL_MS);
  }
  if (counters.inFlight > 0)
    gateway.log.warn({ calls: counters.inFlight }, 'cutting calls that did not end within the time for draining');
  for (const call of gateway.openCalls) call.shutDown();
  // New calls would get no record any more.
  sessions.destroyAll();
  server.closeAllConnections();
  const settledMs = performance.now() + CUT_SETTLE_MS;
  while (counters.inFlight > 0 && performance.now() < settledMs) await sleep(DRAIN_POLL_MS);
}

interface AttemptSampler {
  add(attempt: RejectedAttempt): void;
  take(): { attempts: RejectedAttempt[]; notShown: number };
}

/** Bounds what a flood of bad keys costs: the first few of each interval are shown, the rest is counted. */
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
      endsSpooled: stats.endsSpooled,
      recordsLost: stats.recordsLost,
      bodiesDropped: stats.bodiesDropped,
      compactedTotal: stats.compacted,
      spoolPendingBytes: stats.pendingBytes,
      refusedFullTotal: gateway.counters.refusedFull,
      droppedConnections: gateway.counters.droppedConnections,
      ...describeHandshakes(gateway),
      ...(gateway.stepTimes === null ? {} : { steps: gateway.stepTimes.read() }),
      rssBytes: process.memoryUsage.rss(),
    },
  });
}

function describeHandshakes({ handshakes }: Gateway): Pick<ProxyMetrics, 'failedHandshakes' | 'latestFailedHandshake'> {
  if (handshakes === undefined) return {};
  const { failed, latest } = handshakes;
  return latest === null ? { failedHandshakes: failed } : { failedHandshakes: failed, latestFailedHandshake: latest };
}

/** At most once a minute: a supervisor that is held up misses many answers at once. */
function createLimitNotice(log: Logger): () => void {
  let saidMs = Number.NEGATIVE_INFINITY;
  return () => {
    const nowMs = performance.now();
    if (nowMs - saidMs < LIMIT_NOTICE_MS) return;
    saidMs = nowMs;
    log.warn('the supervisor did not say in time what is left of a limit; such calls pass');
  };
}
