/** The proxy processes: each slot is a bound socket with its serving and its draining processes. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { ProxyStart, UpMessage } from '../vocabulary/channel.ts';
import type { SupervisedChild } from './supervised-child.ts';

/** A new process that lives this long serves the slot. */
const SETTLE_MS = 500;
/** The former process serves meanwhile, so more tries gain nothing. */
const SUCCESSOR_TRIES = 2;
/** For each slot: one holds some 80 MB, and its streams must not be cut for the next restart. */
const MAX_DRAINING = 4;

export interface ProxyFleetOptions {
  readonly listenFds: readonly number[];
  readonly createStart: (spoolName: string) => ProxyStart;
  readonly createChild: (
    listenFd: number,
    maxEarlyExits: number | undefined,
    createStart: () => ProxyStart,
    onMessage: (child: SupervisedChild, message: UpMessage) => void,
    onChange: (child: SupervisedChild) => void,
  ) => SupervisedChild;
  readonly onMessage: (child: SupervisedChild, message: UpMessage) => void;
  readonly onChange: (child: SupervisedChild) => void;
  readonly onSpoolEnd: (spoolName: string) => void;
  readonly drainMs: number;
  readonly log: Logger;
}

export interface ProxyFleet {
  /** Resolves when every slot is served. */
  readonly start: () => Promise<void>;
  /**
   * Replaces slot after slot: the new process listens on the same socket before the old one drains. Rejects when one
   * does not come up; that slot and the rest stay as they were. Not for concurrent calls.
   */
  readonly replace: () => Promise<void>;
  readonly stop: (graceMs: number) => Promise<void>;
  readonly children: () => readonly SupervisedChild[];
  readonly liveSpools: () => readonly string[];
}

/** A supervised process; each of its starts writes a spool of its own. */
interface ProxyRun {
  readonly child: SupervisedChild;
  readonly spoolName: () => string;
}

interface Slot {
  readonly index: number;
  readonly listenFd: number;
  serving: ProxyRun;
  successor: ProxyRun | null;
  readonly draining: Set<ProxyRun>;
}

export function createProxyFleet(options: ProxyFleetOptions): ProxyFleet {
  const { log, drainMs } = options;
  const slots: readonly Slot[] = options.listenFds.map((listenFd, index) => ({
    index,
    listenFd,
    serving: createRun(index, listenFd),
    successor: null,
    draining: new Set(),
  }));
  let isStopping = false;

  function createRun(index: number, listenFd: number, maxEarlyExits?: number): ProxyRun {
    let spoolName = '';
    const createStart = (): ProxyStart => {
      spoolName = `${Date.now().toString(36)}-p${index}-${crypto.randomUUID().slice(0, 8)}`;
      return options.createStart(spoolName);
    };
    const child = options.createChild(listenFd, maxEarlyExits, createStart, options.onMessage, (changed) => {
      if (changed.identity() === null) options.onSpoolEnd(spoolName);
      options.onChange(changed);
    });
    return { child, spoolName: () => spoolName };
  }

  function listRuns(): ProxyRun[] {
    const successors = slots.map(({ successor }) => successor).filter((run) => run !== null);
    return [...slots.map(({ serving }) => serving), ...successors, ...slots.flatMap(({ draining }) => [...draining])];
  }

  async function startSuccessor({ child }: ProxyRun): Promise<void> {
    await child.start();
    const { pid } = child.status();
    await sleep(SETTLE_MS);
    const status = child.status();
    if (isStopping) throw new Error('the gateway is stopping');
    if (status.state !== 'ready' || status.pid !== pid)
      throw new Error(`the new proxy process ended soon after it had come up (${status.lastExit ?? 'unknown'})`);
  }

  function drain(slot: Slot, run: ProxyRun): void {
    slot.draining.add(run);
    log.info({ child: run.child.status().pid, drainMs }, 'a proxy process is replaced; its open calls go on');
    void run.child.stop(drainMs, true).then(() => {
      slot.draining.delete(run);
      // From now on another process may ship its spool.
      options.onChange(run.child);
    });
  }

  async function replaceSlot(slot: Slot): Promise<void> {
    if (slot.draining.size >= MAX_DRAINING)
      throw new Error(`${slot.draining.size} processes that were replaced before still have open calls`);
    const successor = createRun(slot.index, slot.listenFd, SUCCESSOR_TRIES);
    slot.successor = successor;
    try {
      await startSuccessor(successor);
    } catch (error) {
      // A stop of the gateway stops it with the others.
      if (isStopping) throw error;
      if (successor.child.status().state === 'ready') drain(slot, successor);
      else await successor.child.stop(0);
      throw error;
    } finally {
      if (!isStopping) slot.successor = null;
    }
    const former = slot.serving;
    slot.serving = successor;
    drain(slot, former);
  }

  return {
    start: async () => {
      await Promise.all(slots.map(({ serving }) => serving.child.start()));
    },
    replace: async () => {
      for (const slot of slots) {
        if (isStopping) return;
        await replaceSlot(slot);
      }
    },
    stop: async (graceMs) => {
      isStopping = true;
      await Promise.all(listRuns().map(({ child }) => child.stop(graceMs)));
    },
    children: () => listRuns().map(({ child }) => child),
    liveSpools: () =>
      listRuns()
        .filter(({ child }) => child.identity() !== null)
        .map(({ spoolName }) => spoolName()),
  };
}
