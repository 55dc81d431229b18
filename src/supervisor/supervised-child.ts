/** Keeps one child process running: restarts it with a growing wait when it dies or on request, and stops it. */
import { type ChildProcess, fork } from 'node:child_process';
import type { Logger } from 'pino';
import type { ChildStatus, DownMessage, ProxyMetrics, StartMessage, UpMessage } from '../vocabulary/channel.ts';
import { createBackOff } from './back-off.ts';
import { createCrashLoop } from './crash-loop.ts';
import { type ProcessIdentity, readStartTime } from './process-identity.ts';

/** Between the child's time to drain and its kill. */
const KILL_MARGIN_MS = 2_000;
/** Enough to write down what a forced end cuts. */
const FORCED_MARGIN_MS = 5_000;
/** Calls wait for a proxy, so one that had come up is tried sooner. */
const MAX_PROXY_WAIT_MS = 1_000;
/** A child that ends this often before it was ready will not start. */
const MAX_EARLY_EXITS = 5;

/** The bound socket in the child, by its place in `stdio`. */
export const LISTEN_FD = 4;

export interface ChildOptions {
  readonly role: 'proxy' | 'control' | 'demo';
  readonly command?: string;
  readonly entry: string;
  readonly env: NodeJS.ProcessEnv;
  /** Handed over as `LISTEN_FD`; null for none. */
  readonly listenFd: number | null;
  /** Handed over as file descriptor 5, to be held. */
  readonly lifelineFd: number | null;
  readonly readinessTimeoutMs: number;
  /** `start` rejects after this many ends before the first `ready`. */
  readonly maxEarlyExits?: number;
  readonly log: Logger;
  /** Called just before each start of the process. */
  readonly createStart: () => StartMessage;
  readonly onMessage: (message: UpMessage) => void;
  readonly onChange: () => void;
}

export type ChildBase = Pick<ChildOptions, 'entry' | 'env' | 'lifelineFd' | 'log'>;

export interface SupervisedChild {
  /** Resolves at the first `ready`; rejects when the process cannot become ready. */
  readonly start: () => Promise<void>;
  readonly send: (message: DownMessage) => boolean;
  /** Stops it and starts it at once; resolves when it is ready, rejects when it is stopped meanwhile. */
  readonly restart: (graceMs: number) => Promise<void>;
  /** Asks it to stop within `graceMs`, then kills it; resolves when it is gone. A later call may shorten the time. */
  readonly stop: (graceMs: number, isReplaced?: boolean) => Promise<void>;
  readonly kill: () => void;
  readonly identity: () => ProcessIdentity | null;
  readonly status: () => ChildStatus;
}

function isUpMessage(value: unknown): value is UpMessage {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}

export function createSupervisedChild(options: ChildOptions): SupervisedChild {
  const { role, log } = options;
  const backOff = createBackOff();
  const crashLoop = createCrashLoop();
  const firstReady = Promise.withResolvers<void>();
  const gone = Promise.withResolvers<void>();
  // An unhandled rejection would end the supervisor.
  firstReady.promise.catch(() => {});
  let child: ChildProcess | null = null;
  let identity: ProcessIdentity | null = null;
  let state: ChildStatus['state'] = 'starting';
  let wasReady = false;
  /** It is being stopped, and a new one follows at once. */
  let isReplaced = false;
  let nextReady: PromiseWithResolvers<void> | null = null;
  let earlyExits = 0;
  let startedAtMs = Date.now();
  let launchedMs = performance.now();
  let restarts = 0;
  let lastExit: string | null = null;
  let metrics: ProxyMetrics | null = null;
  let readinessTimer: NodeJS.Timeout | undefined;
  let restartTimer: NodeJS.Timeout | undefined;
  let killTimer: NodeJS.Timeout | undefined;

  const isStopping = () => state === 'stopping' || state === 'draining';

  function readState(): ChildStatus['state'] {
    const isDown = state === 'starting' || state === 'restarting';
    return isDown && crashLoop.isLooping(performance.now()) ? 'crash_loop' : state;
  }

  function launch(): void {
    const start = options.createStart();
    startedAtMs = Date.now();
    launchedMs = performance.now();
    const launched = fork(options.entry, [options.command ?? `internal-${role}`], {
      // Flags are not inherited: two processes cannot share an --inspect port.
      execArgv: [],
      env: options.env,
      stdio: ['ignore', 'inherit', 'inherit', 'ipc', options.listenFd ?? 'ignore', options.lifelineFd ?? 'ignore'],
    });
    child = launched;
    if (launched.pid !== undefined) {
      identity = { pid: launched.pid, startTime: readStartTime(launched.pid) ?? 'gone' };
    }
    let isOver = false;
    const end = (reason: string) => {
      if (isOver) return;
      isOver = true;
      onEnd(reason);
    };
    launched.on('error', (error) => {
      // Also raised for a message to a dead process; a failed start has no pid.
      if (launched.pid === undefined) end(error.message);
    });
    launched.on('exit', (code, signal) => end(signal ?? `exit ${code}`));
    launched.on('message', (message: unknown) => {
      if (!isUpMessage(message)) return;
      if (message.type === 'ready') onReady();
      else if (message.type === 'metrics') metrics = message.metrics;
      options.onMessage(message);
    });
    send(start);
    readinessTimer = setTimeout(() => {
      log.error({ role, pid: launched.pid, timeoutMs: options.readinessTimeoutMs }, 'child is not ready in time');
      launched.kill('SIGKILL');
    }, options.readinessTimeoutMs);
    options.onChange();
  }

  function onReady(): void {
    clearTimeout(readinessTimer);
    if (isStopping()) return;
    state = 'ready';
    wasReady = true;
    if (crashLoop.isLooping(performance.now())) log.debug({ role, child: identity?.pid }, 'child ready');
    else log.info({ role, child: identity?.pid }, 'child ready');
    firstReady.resolve();
    nextReady?.resolve();
    nextReady = null;
    options.onChange();
  }

  function onEnd(reason: string): void {
    clearTimeout(readinessTimer);
    clearTimeout(killTimer);
    const pid = identity?.pid;
    child = null;
    identity = null;
    metrics = null;
    lastExit = reason;
    if (isStopping()) {
      gone.resolve();
      options.onChange();
      return;
    }
    const isMissed = role === 'proxy' && state === 'ready';
    state = 'restarting';
    if (isReplaced) {
      isReplaced = false;
      launch();
      return;
    }
    const isTold = crashLoop.ended(performance.now());
    const waitMs = backOff.next(performance.now() - launchedMs, isMissed ? MAX_PROXY_WAIT_MS : undefined);
    if (isTold) {
      const recentExits = crashLoop.recentExits(performance.now());
      log.error({ role, child: pid, exit: reason, waitMs, recentExits }, 'child ended; starting it again');
    }
    if (!wasReady) {
      earlyExits += 1;
      if (earlyExits >= (options.maxEarlyExits ?? MAX_EARLY_EXITS))
        firstReady.reject(new Error(`the ${role} process cannot start (${reason}); its own lines above say why`));
    }
    restartTimer = setTimeout(() => {
      restarts += 1;
      launch();
    }, waitMs);
    options.onChange();
  }

  function askToStop(stopping: ChildProcess, graceMs: number, isReplaced = false): void {
    clearTimeout(killTimer);
    send({ type: 'stop', graceMs, isReplaced });
    killTimer = setTimeout(
      () => {
        log.warn({ role, child: stopping.pid, graceMs }, 'child does not stop; killing it');
        stopping.kill('SIGKILL');
      },
      graceMs === 0 ? FORCED_MARGIN_MS : graceMs + KILL_MARGIN_MS,
    );
  }

  function send(message: DownMessage): boolean {
    if (child === null || !child.connected) return false;
    child.send(message, () => {});
    return true;
  }

  return {
    start: () => {
      launch();
      return firstReady.promise;
    },
    send,
    restart: (graceMs) => {
      if (isStopping()) return Promise.reject(new Error(`${role} is stopping`));
      nextReady ??= Promise.withResolvers<void>();
      const { promise } = nextReady;
      if (child === null) {
        clearTimeout(restartTimer);
        launch();
      } else if (!isReplaced) {
        clearTimeout(readinessTimer);
        isReplaced = true;
        askToStop(child, graceMs);
      }
      return promise;
    },
    stop: (graceMs, isReplaced = false) => {
      clearTimeout(restartTimer);
      clearTimeout(readinessTimer);
      state = role === 'proxy' && graceMs > 0 ? 'draining' : 'stopping';
      firstReady.reject(new Error(`${role} was stopped`));
      nextReady?.reject(new Error(`${role} was stopped`));
      if (child === null) gone.resolve();
      else askToStop(child, graceMs, isReplaced);
      return gone.promise;
    },
    kill: () => {
      clearTimeout(restartTimer);
      state = 'stopping';
      if (child === null) gone.resolve();
      else child.kill('SIGKILL');
    },
    identity: () => identity,
    status: () => ({
      role,
      pid: identity?.pid ?? null,
      state: readState(),
      startedAtMs,
      restarts,
      recentExits: crashLoop.recentExits(performance.now()),
      lastExit,
      metrics,
    }),
  };
}
