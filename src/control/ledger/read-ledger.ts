/** The ledger of all calls of present and removed process directories, listing what cannot be counted. */
import { join } from 'node:path';
import type { WaitingCounter, WaitingEndings } from '../../spool/count-waiting.ts';
import { type CursorFile, readCursorFile } from '../../spool/cursor.ts';
import { type Losses, mergeLosses } from '../../spool/losses.ts';
import { readLosses } from '../../spool/losses-file.ts';
import { listProcessDirectories } from '../../spool/process-directories.ts';
import type { SupervisorStatus } from '../../vocabulary/channel.ts';
import type { LedgerSnapshot } from '../admin/admin-deps.ts';
import { balanceEnded, balanceLive, countEnded } from './balance-process.ts';
import { type EndedTotals, type LedgerFile, MAX_LOSS_ENTRIES } from './ledger-file.ts';
import type { ProxyMemory } from './proxy-memory.ts';

/** Bounds one reading; counts are remembered, so that the next gets further. */
const MAX_BYTES = 256 * 1024 * 1024;
const MAX_MS = 500;
/** The shipper moves on meanwhile. */
const MAX_TRIES = 4;
const MAX_SHOWN_LOSSES = 50;

export interface LedgerSources {
  readonly spoolDir: string;
  readonly ended: LedgerFile;
  readonly memory: ProxyMemory;
  readonly counter: WaitingCounter;
  readonly readSupervisorStatus: () => Promise<SupervisorStatus | null>;
  readonly listLiveSpools: () => readonly string[];
}

interface ReadDirectory {
  readonly name: string;
  readonly cursor: CursorFile;
  readonly waiting: WaitingEndings;
  readonly losses: Losses;
}

export async function readLedger(sources: LedgerSources): Promise<LedgerSnapshot> {
  const { spoolDir, ended, memory, listLiveSpools } = sources;
  // In this order a directory that goes meanwhile is in the last part, and a call that ends meanwhile is found.
  const status = await sources.readSupervisorStatus();
  if (status !== null) memory.note(status);
  const live = new Set(listLiveSpools());
  const limits = { left: MAX_BYTES, deadlineMs: performance.now() + MAX_MS };
  const read: ReadDirectory[] = [];
  // A process on a full disk has calls before it has written anything.
  for (const name of new Set([...(await listProcessDirectories(spoolDir)), ...live])) {
    const directory = await readDirectory(join(spoolDir, name), name, sources.counter, limits);
    read.push(directory);
  }
  const taken = await ended.read();
  return addUp(
    taken,
    read.filter(({ name }) => !taken.names.includes(name)),
    live,
    memory,
  );
}

/** Reads cursor and waiting endings of one moment. */
async function readDirectory(
  dir: string,
  name: string,
  counter: WaitingCounter,
  limits: { left: number; readonly deadlineMs: number },
): Promise<ReadDirectory> {
  let cursor = await readCursorFile(dir);
  for (let tries = 1; ; tries += 1) {
    const waiting = await counter.count(dir, cursor.position, {
      maxBytes: limits.left,
      deadlineMs: limits.deadlineMs,
    });
    const after = await readCursorFile(dir);
    // Within a segment nothing was deleted, so the count stands.
    if (after.position.segment === cursor.position.segment || tries >= MAX_TRIES) {
      limits.left = Math.max(0, limits.left - waiting.bytes);
      return { name, cursor, waiting, losses: await readLosses(dir) };
    }
    cursor = after;
  }
}

function addUp(
  gone: EndedTotals,
  directories: readonly ReadDirectory[],
  live: ReadonlySet<string>,
  memory: ProxyMemory,
): LedgerSnapshot {
  const settled = gone.stored + gone.setAside;
  const sums = { ...gone, spooled: 0, inFlight: 0, difference: 0, ended: settled, found: settled };
  const outcomes: Record<string, number> = { ...gone.outcomes };
  const processes: LedgerSnapshot['processes'][number][] = [];
  const unaccounted = [...gone.unaccounted];
  for (const { name, cursor, waiting, losses } of directories) {
    const { tally } = cursor;
    if (tally.unknown !== null || cursor.isSuspect) {
      unaccounted.push({ name, reason: tally.unknown ?? 'tally_lost' });
      continue;
    }
    const isLive = live.has(name);
    const { stored, setAside, highestOrdinal } = tally;
    const { endings: spooled, isWhole } = waiting;
    const calls = { stored, setAside, highestOrdinal, spooled, isWhole, lost: losses.calls };
    const said = memory.lastOf(name);
    const balance = isLive ? balanceLive(said, calls) : balanceEnded(countEnded(said), calls);
    const found = stored + setAside + spooled;
    sums.accepted += balance.accepted;
    sums.stored += stored;
    sums.spooled += balance.spooled;
    sums.inFlight += balance.inFlight;
    sums.setAside += setAside;
    sums.lost += balance.lost;
    sums.difference += balance.difference;
    sums.found += found;
    sums.ended += isLive ? countEnded(said) : found;
    for (const [outcome, count] of Object.entries(tally.outcomes)) outcomes[outcome] = (outcomes[outcome] ?? 0) + count;
    processes.push({ ...balance, name, isLive });
  }
  const waitingSince = directories.flatMap(({ waiting }) => waiting.oldestMs ?? []);
  const losses = [...gone.losses, ...directories.flatMap((directory) => directory.losses.entries)];
  return {
    ...sums,
    isWhole: directories.every(({ waiting }) => waiting.isWhole),
    oldestWaitingMs: waitingSince.length === 0 ? null : Math.min(...waitingSince),
    outcomes,
    processes,
    unaccounted,
    unaccountedTotal: gone.unaccountedTotal + unaccounted.length - gone.unaccounted.length,
    losses: mergeLosses(losses, MAX_LOSS_ENTRIES)
      .toSorted((a, b) => b.minuteMs - a.minuteMs)
      .slice(0, MAX_SHOWN_LOSSES)
      .map((entry) => ({ ...entry, usage: { ...entry.usage } })),
  };
}
