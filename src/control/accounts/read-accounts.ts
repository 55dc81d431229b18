/**
 * The public account of all calls: of the process directories that are there, and of those that are gone. It reads
 * files and adds up, and it guesses nothing: what cannot be counted is listed.
 */
import { join } from 'node:path';
import type { AccountsReading } from '../../admin/admin-deps.ts';
import type { SupervisorStatus } from '../../channel.ts';
import type { WaitingCounter, WaitingEndings } from '../../spool/count-waiting.ts';
import { type CursorFile, readCursorFile } from '../../spool/cursor.ts';
import { type Losses, readLosses } from '../../spool/losses-file.ts';
import { listProcessDirectories } from '../../spool/process-directories.ts';
import { balanceEnded, balanceLive, type FoundCalls, type ProcessBalance } from './balance-process.ts';
import type { CallAccounts, GoneAccounts } from './call-accounts.ts';
import { mergeLosses } from './merge-losses.ts';
import type { ProxyMemory } from './proxy-memory.ts';

/** Of one reading, over all directories. What was counted is remembered, so that the next one gets further. */
const MAX_BYTES = 256 * 1024 * 1024;
const MAX_MS = 500;
/** The shipper moves on meanwhile. */
const MAX_TRIES = 4;
const MAX_SHOWN_LOSSES = 50;

export interface AccountSources {
  readonly spoolDir: string;
  readonly gone: CallAccounts;
  readonly memory: ProxyMemory;
  readonly counter: WaitingCounter;
  /** Null when it does not answer. */
  readonly readSupervisorStatus: () => Promise<SupervisorStatus | null>;
  readonly listLiveSpools: () => readonly string[];
}

interface ReadDirectory {
  readonly name: string;
  readonly cursor: CursorFile;
  readonly waiting: WaitingEndings;
  readonly losses: Losses;
}

export async function readAccounts(sources: AccountSources): Promise<AccountsReading> {
  const { spoolDir, gone, memory, listLiveSpools } = sources;
  // What the processes say comes first, the files then, and last what is gone: a directory that goes meanwhile is in
  // the last of them, and a call that ends meanwhile is found and not missed.
  const status = await sources.readSupervisorStatus();
  if (status !== null) memory.note(status);
  const live = new Set(listLiveSpools());
  const limits = { left: MAX_BYTES, deadlineMs: performance.now() + MAX_MS };
  const read: ReadDirectory[] = [];
  // A process that has not written anything yet, since its disk is full, has calls all the same.
  for (const name of new Set([...(await listProcessDirectories(spoolDir)), ...live])) {
    const directory = await readDirectory(join(spoolDir, name), name, sources.counter, limits);
    read.push(directory);
  }
  const taken = await gone.read();
  return addUp(
    taken,
    read.filter(({ name }) => !taken.names.includes(name)),
    live,
    memory,
  );
}

/** Cursor and waiting endings of the same moment. */
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
    // Within a segment nothing was deleted, so that what was counted stands.
    if (after.position.segment === cursor.position.segment || tries >= MAX_TRIES) {
      limits.left = Math.max(0, limits.left - waiting.bytes);
      return { name, cursor, waiting, losses: await readLosses(dir) };
    }
    cursor = after;
  }
}

function addUp(
  gone: GoneAccounts,
  directories: readonly ReadDirectory[],
  live: ReadonlySet<string>,
  memory: ProxyMemory,
): AccountsReading {
  const sums = { accepted: gone.accepted, stored: gone.stored, spooled: 0, inFlight: 0 };
  const bad = { setAside: gone.setAside, lost: gone.lost, difference: 0 };
  const endings = { ended: gone.stored + gone.setAside, found: gone.stored + gone.setAside };
  const outcomes: Record<string, number> = { ...gone.outcomes };
  const processes: (ProcessBalance & { readonly name: string; readonly isLive: boolean })[] = [];
  const unaccounted = [...gone.unaccounted];
  let oldestWaitingMs: number | null = null;
  for (const { name, cursor, waiting, losses } of directories) {
    const { tally } = cursor;
    if (waiting.oldestMs !== null) oldestWaitingMs = Math.min(waiting.oldestMs, oldestWaitingMs ?? waiting.oldestMs);
    if (tally.unknown !== null || cursor.isSuspect) {
      unaccounted.push({ name, reason: tally.unknown ?? 'tally_lost' });
      continue;
    }
    const isLive = live.has(name);
    const { stored, setAside, highestOrdinal } = tally;
    const found: FoundCalls = {
      ...{ stored, setAside, highestOrdinal },
      ...{ spooled: waiting.endings, isWhole: waiting.isWhole, lost: losses.calls },
    };
    const said = memory.lastOf(name);
    const endedAtLeast = said === null ? 0 : said.keptTotal + said.recordsLost;
    const balance = isLive ? balanceLive(said, found) : balanceEnded(endedAtLeast, found);
    sums.accepted += balance.accepted;
    sums.stored += stored;
    sums.spooled += balance.spooled;
    sums.inFlight += balance.inFlight;
    bad.setAside += setAside;
    bad.lost += balance.lost;
    bad.difference += balance.difference;
    endings.found += stored + setAside + waiting.endings;
    endings.ended += isLive ? endedAtLeast : stored + setAside + waiting.endings;
    for (const [outcome, calls] of Object.entries(tally.outcomes)) outcomes[outcome] = (outcomes[outcome] ?? 0) + calls;
    processes.push({ ...balance, name, isLive });
  }
  const losses = mergeLosses([...gone.losses, ...directories.flatMap((directory) => directory.losses.entries)]);
  return {
    ...sums,
    ...bad,
    ...endings,
    missing: gone.missing,
    isWhole: directories.every(({ waiting }) => waiting.isWhole),
    oldestWaitingMs,
    outcomes,
    processes,
    unaccounted,
    unaccountedTotal: gone.unaccountedTotal + unaccounted.length - gone.unaccounted.length,
    losses: losses.slice(0, MAX_SHOWN_LOSSES).map((entry) => ({ ...entry, usage: { ...entry.usage } })),
  };
}
