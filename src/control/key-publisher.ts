/**
 * Brings the keys of the database to every local proxy: reads them with their version, writes the snapshot file, then
 * publishes the change and waits until the supervisor says that all proxies have it. One at a time, in order.
 */
import { existsSync } from 'node:fs';
import type pg from 'pg';
import type { Logger } from 'pino';
import type { KeyChange, KeyEntry } from '../channel.ts';
import {
  createKeySnapshot,
  type KeySnapshot,
  readKeySnapshotFile,
  writeKeySnapshotFile,
} from '../keys/key-snapshot.ts';
import { readKeySnapshot } from '../store/gateway-keys.ts';

/** The supervisor gives the proxies 5 s. */
const CONFIRM_LIMIT_MS = 6_000;
/** Nobody's version: who gets a change from it reads the file. */
const NO_VERSION = -1;

export interface KeyPublisherOptions {
  readonly pool: pg.Pool;
  /** `keys.json` of the data directory. */
  readonly file: string;
  readonly send: (change: KeyChange) => void;
  readonly log: Logger;
  readonly confirmLimitMs?: number;
}

export interface KeyPublisher {
  /** Publishes what the database has, if that is news. True when all proxies have this version or a later one. */
  readonly publish: (version: number) => Promise<boolean>;
  /** The same for changes that other nodes made; cheap when there are none. */
  readonly poll: () => Promise<void>;
  /** The supervisor's answer to a change that was sent. */
  readonly onPublished: (version: number, confirmed: boolean) => void;
}

function isSameEntry(a: KeyEntry, b: KeyEntry | undefined): boolean {
  return (
    b !== undefined &&
    a.keyId === b.keyId &&
    a.accountId === b.accountId &&
    a.revoked === b.revoked &&
    a.expiresAtMs === b.expiresAtMs &&
    a.usage === b.usage &&
    a.bodies === b.bodies
  );
}

function listChanges(from: KeySnapshot | null, to: KeySnapshot): readonly KeyEntry[] {
  return [...to.keys.values()].filter((entry) => !isSameEntry(entry, from?.keys.get(entry.digest)));
}

function hasRemovals(from: KeySnapshot, to: KeySnapshot): boolean {
  return [...from.keys.keys()].some((digest) => !to.keys.has(digest));
}

/**
 * The proxies hold this version, or a later one, of other keys: the database was replaced or set back. Without a higher
 * number they would take its keys for old news.
 */
function isSetBack(held: KeySnapshot, stored: KeySnapshot): boolean {
  if (stored.version !== held.version) return stored.version < held.version;
  return listChanges(held, stored).length > 0 || hasRemovals(held, stored);
}

export function createKeyPublisher({ pool, file, send, log, ...options }: KeyPublisherOptions): KeyPublisher {
  const confirmLimitMs = options.confirmLimitMs ?? CONFIRM_LIMIT_MS;
  /** What was published last, or the file's content of the time before. */
  let held: KeySnapshot | null = null;
  let isFileRead = false;
  let isFileWritten = false;
  /** Why not, as it was logged: on a full disk it is tried twice a second. */
  let failure: string | null = null;
  let unconfirmedVersion = NO_VERSION;
  /** All proxies have it, and the file too. */
  let confirmedVersion = NO_VERSION;
  let waiting: { readonly version: number; readonly settle: (confirmed: boolean) => void } | null = null;
  let queue: Promise<unknown> = Promise.resolve();

  async function readStored(): Promise<KeySnapshot> {
    const { version, keys } = await readKeySnapshot(pool);
    const stored = createKeySnapshot(version, keys);
    if (held === null || !isSetBack(held, stored)) return stored;
    log.warn({ held: held.version, stored: version }, 'the database has other keys than before; publishing them anew');
    await pool.query('update key_snapshot set version = greatest(version, $1::int8) + 1', [held.version]);
    const raised = await readKeySnapshot(pool);
    return createKeySnapshot(raised.version, raised.keys);
  }

  async function writeFile(snapshot: KeySnapshot): Promise<void> {
    try {
      await writeKeySnapshotFile(file, snapshot);
      isFileWritten = true;
      if (failure !== null) log.warn('the key snapshot is written again');
      failure = null;
    } catch (error) {
      // A revocation must reach the proxies all the same; but it is not confirmed, and the file is tried again.
      isFileWritten = false;
      // Not by the message, which has the name of the temporary file, another one each time.
      const reason = error instanceof Error && 'code' in error ? String(error.code) : String(error);
      if (reason !== failure) log.error({ err: error }, 'the key snapshot cannot be written');
      failure = reason;
    }
  }

  function waitForConfirmation(version: number): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const timer = setTimeout(() => resolve(false), confirmLimitMs);
    waiting = { version, settle: resolve };
    return promise.finally(() => {
      clearTimeout(timer);
      waiting = null;
    });
  }

  async function refresh(): Promise<void> {
    if (!isFileRead) held = await readKeySnapshotFile(file);
    isFileRead = true;
    const before = held;
    const stored = await readStored();
    if (confirmedVersion === stored.version) return;
    const isNews = before === null || before.version !== stored.version;
    const isDelta = isNews && before !== null && !hasRemovals(before, stored);
    held = stored;
    if (isNews || !isFileWritten) await writeFile(stored);
    const confirmation = waitForConfirmation(stored.version);
    send({
      baseVersion: isDelta ? before.version : NO_VERSION,
      version: stored.version,
      upserts: isDelta ? listChanges(before, stored) : [],
    });
    if (await confirmation) {
      if (isFileWritten) confirmedVersion = stored.version;
      return;
    }
    if (unconfirmedVersion !== stored.version)
      log.warn({ version: stored.version }, 'not every proxy process has confirmed the keys');
    unconfirmedVersion = stored.version;
  }

  function enqueue(): Promise<void> {
    const run = queue.then(refresh);
    // The caller sees a failure; the next in the queue goes on after it.
    queue = run.catch(() => {});
    return run;
  }

  return {
    publish: async (version) => {
      if (confirmedVersion >= version) return true;
      try {
        await enqueue();
      } catch (error) {
        log.warn({ err: error }, 'the keys could not be published');
      }
      return confirmedVersion >= version;
    },
    poll: async () => {
      // A proxy that starts has nothing else to know the keys by.
      if (held !== null && isFileWritten && !existsSync(file)) {
        isFileWritten = false;
        confirmedVersion = NO_VERSION;
      }
      const { rows } = await pool.query<{ version: number }>('select version from key_snapshot');
      if (rows[0]?.version !== confirmedVersion) await enqueue();
    },
    onPublished: (version, confirmed) => {
      if (waiting?.version === version) waiting.settle(confirmed);
    },
  };
}
