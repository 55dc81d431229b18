/**
 * Brings the database's keys to every local proxy, one change at a time: writes the snapshot file, publishes the
 * change, and waits for the supervisor's confirmation.
 */
import { existsSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import type pg from 'pg';
import type { Logger } from 'pino';
import {
  createKeySnapshot,
  type KeySnapshot,
  readKeySnapshotFile,
  writeKeySnapshotFile,
} from '../../keys/key-snapshot.ts';
import type { KeyChange, KeyEntry } from '../../vocabulary/channel.ts';
import { readKeySnapshot } from '../store/read-key-snapshot.ts';

/** The supervisor gives the proxies 5 s. */
const CONFIRM_LIMIT_MS = 6_000;
/** No snapshot has this version: a proxy that gets a change from it reads the file. */
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
  /** Publishes the database's keys if they are new. True when all proxies have this version or a later one. */
  readonly publish: (version: number) => Promise<boolean>;
  /** Publishes changes of other nodes; cheap without any. */
  readonly poll: () => Promise<void>;
  readonly onPublished: (version: number, confirmed: boolean) => void;
}

function listChanges(from: KeySnapshot | null, to: KeySnapshot): readonly KeyEntry[] {
  return [...to.keys.values()].filter((entry) => !isDeepStrictEqual(entry, from?.keys.get(entry.digest)));
}

function listRemoved(from: KeySnapshot, to: KeySnapshot): readonly string[] {
  return [...from.keys.keys()].filter((digest) => !to.keys.has(digest));
}

function describeDelta(from: KeySnapshot, to: KeySnapshot): Pick<KeyChange, 'upserts' | 'removed' | 'limits'> {
  const areSame = isDeepStrictEqual(from.limits, to.limits);
  return {
    upserts: listChanges(from, to),
    removed: listRemoved(from, to),
    ...(areSame ? {} : { limits: [...to.limits.values()].flat() }),
  };
}

/** The database was replaced or set back: without a higher version the proxies would ignore its keys. */
function isSetBack(held: KeySnapshot, stored: KeySnapshot): boolean {
  if (stored.version !== held.version) return stored.version < held.version;
  return (
    listChanges(held, stored).length > 0 ||
    listRemoved(held, stored).length > 0 ||
    !isDeepStrictEqual(held.limits, stored.limits)
  );
}

export function createKeyPublisher({ pool, file, send, log, ...options }: KeyPublisherOptions): KeyPublisher {
  const confirmLimitMs = options.confirmLimitMs ?? CONFIRM_LIMIT_MS;
  /** The last published snapshot, or the file's from the time before. */
  let held: KeySnapshot | null = null;
  let isFileRead = false;
  let isFileWritten = false;
  /** The last logged reason: on a full disk a write is tried twice a second. */
  let failure: string | null = null;
  let unconfirmedVersion = NO_VERSION;
  /** The version that the file and all proxies have. */
  let confirmedVersion = NO_VERSION;
  let waiting: { readonly version: number; readonly settle: (confirmed: boolean) => void } | null = null;
  let queue: Promise<unknown> = Promise.resolve();

  async function readStored(): Promise<KeySnapshot> {
    const { version, keys, limits } = await readKeySnapshot(pool);
    const stored = createKeySnapshot(version, keys, limits);
    if (held === null || !isSetBack(held, stored)) return stored;
    log.warn({ held: held.version, stored: version }, 'the database has other keys than before; publishing them anew');
    await pool.query('update key_snapshot set version = greatest(version, $1::int8) + 1', [held.version]);
    const raised = await readKeySnapshot(pool);
    return createKeySnapshot(raised.version, raised.keys, raised.limits);
  }

  async function writeFile(snapshot: KeySnapshot): Promise<void> {
    try {
      await writeKeySnapshotFile(file, snapshot);
      isFileWritten = true;
      if (failure !== null) log.warn('the key snapshot is written again');
      failure = null;
    } catch (error) {
      // A revocation is published without the file, but not confirmed, and the file is tried again.
      isFileWritten = false;
      // The message contains a new temporary file name each time.
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
    const isDelta = isNews && before !== null;
    held = stored;
    if (isNews || !isFileWritten) await writeFile(stored);
    const confirmation = waitForConfirmation(stored.version);
    send({
      baseVersion: isDelta ? before.version : NO_VERSION,
      version: stored.version,
      ...(isDelta ? describeDelta(before, stored) : { upserts: [] }),
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
    // The caller sees the failure; the queue goes on.
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
      // A starting proxy knows the keys only from the file.
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
