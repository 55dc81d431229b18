/**
 * One child process: started, started again with a growing wait when it dies, restarted on request, stopped. It knows
 * how to keep a process running, not what the process does.
 */
import { type ChildProcess, fork } from 'node:child_process';
import type { Logger } from 'pino';
import type { ChildStatus, DownMessage, ProxyMetrics, StartMessage, UpMessage } from '../channel.ts';
import { createBackOff } from './back-off.ts';
import { createCrashLoop } from './crash-loop.ts';
import { type ProcessIdentity, readStartTime } from './process-identity.ts';

/** After the child's own time to drain, before it is killed. */
const KILL_MARGIN_MS = 2_000;
/** For one that must end at once: enough to write down what it cuts. */
const FORCED_MARGIN_MS = 1_000;
/** Calls wait for a proxy; one that had come up is worth trying sooner than one that cannot. */
const MAX_PROXY_WAIT_MS = 1_000;
/** A child that ends this often before it ever was ready will not become so by itself. */
const MAX_EARLY_EXITS = 5;

/** Where a child finds its bound socket: behind the standard streams and the channel, in the order of `stdio`. */
export const LISTEN_FD = 4;

export interface ChildOptions {
  readonly role: 'proxy' | 'control' | 'demo';
  /** The hidden command that makes it what it is; `internal-` and the role by default. */
  readonly command?: string;
  /** The program: Node runs `entry` with that command. */
  readonly entry: string;
  readonly env: NodeJS.ProcessEnv;
  /** A bound socket to hand over as `LISTEN_FD`; null for none. */
  readonly listenFd: number | null;
  /** Handed over as file descriptor 5, only to be held. */
  readonly lifelineFd: number | null;
  readonly readinessTimeoutMs: number;
  /** How often it may end before it ever was ready, until `start` rejects. */
  readonly maxEarlyExits?: number;
  readonly log: Logger;
  /** Called at each start, just before the process exists. */
  readonly createStart: () => StartMessage;
  readonly onMessage: (message: UpMessage) => void;
  /** Started, ready or ended. */
  readonly onChange: () => void;
}

/** The same for all children of a gateway. */
export type ChildBase = Pick<ChildOptions, 'entry' | 'env' | 'lifelineFd' | 'log'>;

export interface SupervisedChild {
  /** Starts the process and keeps it running. Resolves at its first `ready`; rejects when it cannot become ready. */
  readonly start: () => Promise<void>;
  /** False when there is no process to send to. */
  readonly send: (message: DownMessage) => boolean;
  /** Stops it as `stop` does and starts it at once; resolves when it is ready again, rejects when it is stopped. */
  readonly restart: (graceMs: number) => Promise<void>;
  /** Asks it to stop within `graceMs`, kills it soon after that; resolves when it is gone. Later calls may shorten it. */
  readonly stop: (graceMs: number, isReplaced?: boolean) => Promise<void>;
  /** Ends it at once, and it does nothing more. */
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
  // Rejected before somebody waits for it, it would end the supervisor.
  firstReady.promise.catch(() => {});
  let child: ChildProcess | null = null;
  let identity: ProcessIdentity | null = null;
  let state: ChildStatus['state'] = 'starting';
  let wasReady = false;
  /** Its end is wanted, and a new one is started at once. */
  let isReplaced = false;
  /** Who waits for the next `ready`. */
  let nextReady: PromiseWithResolvers<void> | null = null;
  let earlyExits = 0;
  let startedAtMs = Date.now();
  /** The same by the monotonic clock: the wall clock may step. */
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
      // Not the flags of this process: an --inspect port can be had only once.
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
      // Also raised for a message to a dead process, which is no news; a failed start has no pid.
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
    child.send(message, () => {
      // A child that died with messages queued: its exit is what is acted on.
    });
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
