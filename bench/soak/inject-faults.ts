/**
 * Does the faults to a gateway under load, in three lanes beside each other: long ones (the database away, the disk
 * full), short ones (kills, restarts) and the clock. What it may not do at the same time is said here; what comes next
 * is drawn from the seed. It judges nothing.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { waitUntil } from '../../test/gateway/start-gateway.ts';
import { createSeededRandom } from '../../test/proxy/seeded-random.ts';
import type { Stage } from '../kill/stage.ts';
import { countPrepared } from './count-prepared.ts';
import type { Disk } from './disk.ts';
import {
  CLOCK_FAULTS,
  CLOCK_STEP_MS,
  type ClockFault,
  createDeck,
  type Fault,
  LONG_FAULTS,
  type LongFault,
  SHORT_FAULTS,
  type ShortFault,
} from './draw-faults.ts';
import { isRunning, listRoles, type Role, signal } from './gateway-processes.ts';
import { stopDatabase, suspendDatabase } from './hurt-database.ts';
import type { Disturbance } from './judge-call.ts';

/** Between the end of a fault and the next one of its lane. */
const LONG_GAP_MS = [3_000, 6_000] as const;
const SHORT_GAP_MS = [1_000, 4_500] as const;
const CLOCK_GAP_MS = [3_000, 8_000] as const;
const CLOCK_HOLD_MS = [3_000, 10_000] as const;
const MIN_LONG_MS = 5_000;
/** A disk is not filled before directories were laid out for proxies that start on it, or so long has passed. */
const STANDBYS_WAIT_MS = 20_000;
const STANDBYS = 4;
/** For the reserves to be made again when the disk has room. */
const RESERVE_MS = 5_000;
/** The part of the time of a full disk after which somebody is killed on it. */
const KILL_ON_FULL_AT = [0.2, 0.7] as const;
/** Between two starts of a gateway that does not come up. */
const RESTART_PAUSE_MS = 1_000;
/** In which a client may still write on a connection that a kill has broken. */
const KILL_AFTERMATH_MS = 1_000;
/** Longer than a database is stopped, with the waits before it is started again. */
const WAIT_FOR_PROCESS_MS = 180_000;
const POLL_MS = 200;

export interface FaultOptions {
  readonly stage: Stage;
  /** Proxy processes. */
  readonly workers: number;
  /** Null: it is never filled. */
  readonly disk: Disk | null;
  readonly shiftClock: (offsetMs: number) => void;
  readonly seed: number;
  readonly maxLongMs: number;
  /** No fault begins or lasts beyond it, once every kind has come; monotonic. */
  readonly endMs: number;
  readonly say: (text: string) => void;
}

export interface Faults {
  /** Resolves when all are over and undone. */
  readonly ended: Promise<void>;
  readonly counts: ReadonlyMap<Fault, number>;
  readonly disturbances: readonly Disturbance[];
  /** Kills of proxies and supervisors. */
  readonly killsOnFullDisk: () => number;
}

export function injectFaults({ stage, workers, disk, shiftClock, seed, maxLongMs, endMs, say }: FaultOptions): Faults {
  const counts = new Map<Fault, number>();
  const disturbances: Disturbance[] = [];
  let long: LongFault | null = null;
  let isRestarting = false;
  let isDiskFull = false;
  let fullDisks = 0;
  let killsOnFullDisk = 0;
  const dataDir = stage.gateway().dataDir;

  const leftMs = () => endMs - performance.now();
  const isOver = () => leftMs() <= 0;
  const pause = (ms: number) => sleep(Math.max(0, Math.min(ms, leftMs())));
  const note = (fault: Fault, more: string) => {
    counts.set(fault, (counts.get(fault) ?? 0) + 1);
    const isOnFullDisk = isDiskFull && (fault === 'kill proxy' || fault === 'kill supervisor');
    if (isOnFullDisk) killsOnFullDisk += 1;
    say(`${fault}${more}${isOnFullDisk ? `, on a full disk; ${countPrepared(dataDir)} directories laid out` : ''}`);
  };

  function pidsOf(role: Role): number[] {
    const supervisor = stage.gateway().process.pid;
    return supervisor === undefined
      ? []
      : listRoles(supervisor, dataDir)
          .filter((one) => one.role === role)
          .map(({ pid }) => pid);
  }

  async function runLong(random: () => number): Promise<void> {
    const deck = createDeck(disk === null ? LONG_FAULTS.filter((kind) => kind !== 'disk full') : LONG_FAULTS, random);
    for (;;) {
      await pause(between(LONG_GAP_MS, random));
      if (leftMs() < MIN_LONG_MS && deck.isAround()) return;
      const forMs = Math.min(between([MIN_LONG_MS, maxLongMs], random), Math.max(MIN_LONG_MS, leftMs()));
      const kind = deck.draw(() => true);
      if (kind === null) return;
      if (kind === 'disk full') await waitForStandbys();
      while (isRestarting) await sleep(POLL_MS);
      long = kind;
      note(kind, ` for ${(forMs / 1_000).toFixed(1)} s`);
      await Promise.all([doLong(kind, forMs), kind === 'disk full' ? killOnFullDisk(forMs, random) : null]);
      say(`${kind}: over`);
      long = null;
    }
  }

  async function doLong(kind: LongFault, forMs: number): Promise<void> {
    switch (kind) {
      case 'database suspended':
        return suspendDatabase(dataDir, forMs);
      case 'database stopped':
        return stopDatabase(dataDir, forMs);
      case 'disk full':
        return fillDisk(forMs);
    }
  }

  async function fillDisk(forMs: number): Promise<void> {
    disturb(performance.now(), forMs + RESERVE_MS, 'full disk');
    isDiskFull = true;
    await disk?.fill(forMs);
    isDiskFull = false;
  }

  async function waitForStandbys(): Promise<void> {
    const untilMs = performance.now() + STANDBYS_WAIT_MS;
    while (countPrepared(dataDir) < STANDBYS && performance.now() < untilMs) await sleep(POLL_MS);
  }

  /** A proxy, the next time the supervisor, besides those that the other lane kills by chance. */
  async function killOnFullDisk(forMs: number, random: () => number): Promise<void> {
    const untilMs = performance.now() + forMs;
    await sleep(forMs * between(KILL_ON_FULL_AT, random));
    const kinds = ['kill proxy', 'kill supervisor'] as const;
    for (;;) {
      const kind = (fullDisks % 2 === 0 ? kinds : kinds.toReversed()).find(mayCome);
      if (kind !== undefined) {
        fullDisks += 1;
        return doShort(kind, random);
      }
      if (performance.now() >= untilMs) return;
      await sleep(POLL_MS);
    }
  }

  async function runShort(random: () => number): Promise<void> {
    const deck = createDeck<ShortFault>(SHORT_FAULTS, random);
    for (;;) {
      await pause(between(SHORT_GAP_MS, random));
      if (isOver() && deck.isAround()) return;
      const kind = deck.draw(mayCome);
      if (kind === null) await sleep(POLL_MS);
      else await doShort(kind, random);
    }
  }

  /** A start without its database is no start for the harness. */
  function mayCome(kind: ShortFault): boolean {
    switch (kind) {
      case 'kill supervisor':
      case 'rolling restart':
        if (isRestarting) return false;
        return long === null || (long === 'disk full' && hasStandbys(workers));
      case 'kill proxy':
        // A restart whose new process is killed is given up and leaves the former one, for which we would wait in vain.
        return !isRestarting && (long !== 'disk full' || hasStandbys(1));
      case 'kill control':
      case 'kill postgres':
      case 'kill backend':
        return true;
    }
  }

  /** On a full disk a proxy can keep endings as long as a directory was laid out for it; one more for whoever starts already. */
  function hasStandbys(needed: number): boolean {
    const starting = Math.max(0, workers - pidsOf('proxy').length);
    return countPrepared(dataDir) >= needed + starting + 1;
  }

  async function doShort(kind: ShortFault, random: () => number): Promise<void> {
    switch (kind) {
      case 'kill proxy':
        return killOne(kind, 'proxy', random);
      case 'kill control':
        return killOne(kind, 'control', random);
      case 'kill postgres':
        return killOne(kind, 'postgres', random);
      case 'kill backend':
        return killOne(kind, 'backend', random);
      case 'kill supervisor':
        return killSupervisor(kind, random);
      case 'rolling restart':
        return restartRolling(kind);
    }
  }

  async function killOne(kind: ShortFault, role: Role, random: () => number): Promise<void> {
    // While its database is stopped there is none to kill, and a killed child is away for a while.
    const found = await waitUntil(`a process ${role}`, () => nonEmpty(pidsOf(role)), WAIT_FOR_PROCESS_MS);
    const pid = found[Math.floor(random() * found.length)];
    // The disk may have been filled meanwhile.
    if (pid === undefined || !mayCome(kind)) return;
    note(kind, `, pid ${pid}`);
    if (role === 'proxy') disturb(performance.now(), KILL_AFTERMATH_MS, 'kill');
    signal(pid, 'SIGKILL');
  }

  async function killSupervisor(kind: ShortFault, random: () => number): Promise<void> {
    isRestarting = true;
    const supervisor = stage.gateway().process;
    note(kind, `, pid ${supervisor.pid}`);
    const fromMs = performance.now();
    const gone = new Promise((resolve) => supervisor.once('exit', resolve));
    supervisor.kill('SIGKILL');
    await gone;
    await sleep(random() * 1_000);
    await startAgain();
    disturb(fromMs, performance.now() - fromMs + KILL_AFTERMATH_MS, 'kill');
    isRestarting = false;
    say('the gateway is back');
  }

  /** On a full disk it ends at once, having no room to say whose the data are: then again and again, as a service would. */
  async function startAgain(): Promise<void> {
    const mayFailUntilMs = performance.now() + (long === 'disk full' ? WAIT_FOR_PROCESS_MS : 0);
    for (let tries = 1; ; tries += 1) {
      try {
        return await stage.restart();
      } catch (error) {
        if (performance.now() >= mayFailUntilMs) throw error;
        if (tries === 1) say(`the gateway did not start: ${readReason(error)}`);
        await sleep(RESTART_PAUSE_MS);
      }
    }
  }

  /** Over when every process that served before has ended; those that began meanwhile go on. */
  async function restartRolling(kind: ShortFault): Promise<void> {
    const fromMs = performance.now();
    const former = pidsOf('proxy');
    note(kind, `, pids ${former.join(', ')}`);
    isRestarting = true;
    stage.gateway().process.kill('SIGHUP');
    const isDone = () => (former.some(isRunning) ? undefined : true);
    await waitUntil('the former proxies are gone', isDone, WAIT_FOR_PROCESS_MS);
    isRestarting = false;
    disturb(fromMs, performance.now() - fromMs, 'rolling');
    say(`${kind}: over`);
  }

  function disturb(fromMs: number, forMs: number, kind: Disturbance['kind']): void {
    disturbances.push({ fromMs, toMs: fromMs + forMs, kind });
  }

  async function runClock(random: () => number): Promise<void> {
    const deck = createDeck<ClockFault>(CLOCK_FAULTS, random);
    for (;;) {
      await pause(between(CLOCK_GAP_MS, random));
      if (isOver() && deck.isAround()) return;
      const kind = deck.draw(() => true);
      if (kind === null) return;
      note(kind, '');
      shiftClock(CLOCK_STEP_MS[kind]);
      await sleep(between(CLOCK_HOLD_MS, random));
      shiftClock(0);
      say(`${kind}: and back`);
    }
  }

  const lanes = [runLong, runShort, runClock].map((run, lane) => run(createSeededRandom(seed * 31 + lane)));
  return { ended: Promise.all(lanes).then(() => {}), counts, disturbances, killsOnFullDisk: () => killsOnFullDisk };
}

function between([least, most]: readonly [number, number], random: () => number): number {
  return least + random() * (most - least);
}

/** The last line of what it printed. */
function readReason(error: unknown): string {
  return String(error).trimEnd().split('\n').at(-1) ?? '';
}

function nonEmpty<T>(list: readonly T[]): readonly T[] | undefined {
  return list.length === 0 ? undefined : list;
}
