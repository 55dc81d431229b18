/**
 * Sessions ended before their expiry, whose cookies are refused. They are kept in memory for every request, in the
 * database for other nodes, and in a file for starts without the database.
 */
import { createHash } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import type pg from 'pg';
import type { Logger } from 'pino';
import { z } from 'zod';
import { listEndedSessions, storeEndedSessions } from '../store/sign-ins.ts';

/** Only signed-in clients can fill it; the earliest expiry is dropped first. */
const MAX_ENDED = 2_000;

const File = z.array(z.tuple([z.string(), z.number()]));

export interface EndedSessions {
  readonly has: (value: string) => boolean;
  readonly add: (value: string, expiresAtMs: number) => void;
  /** Exchanges ended sessions with other nodes. Throws the database's error. */
  readonly exchange: (pool: pg.Pool) => Promise<void>;
}

export function openEndedSessions(path: string | null, log: Logger, nowMs: () => number = Date.now): EndedSessions {
  /** Digest of the cookie → its expiry, the earliest first. */
  const ended = new Map(path === null ? [] : readEnded(path));

  /** Not known to be in the database, including the file's. */
  const untold = new Set(ended.keys());

  function note(digest: string, expiresAtMs: number): void {
    ended.set(digest, expiresAtMs);
    for (const [one, endsMs] of ended) if (endsMs <= nowMs()) forget(one);
    const [first] = ended.keys();
    if (ended.size > MAX_ENDED && first !== undefined) forget(first);
  }

  function forget(digest: string): void {
    ended.delete(digest);
    untold.delete(digest);
  }

  function save(file: string): void {
    const temporary = `${file}.tmp`;
    try {
      writeFileSync(temporary, JSON.stringify([...ended]), { mode: 0o600 });
      renameSync(temporary, file);
    } catch (error) {
      log.warn({ err: error }, 'an ended session could not be noted; until the next start it is known in memory');
    }
  }

  return {
    has: (value) => ended.has(digestOf(value)),
    add: (value, expiresAtMs) => {
      const digest = digestOf(value);
      untold.add(digest);
      note(digest, expiresAtMs);
      if (path !== null) save(path);
    },
    exchange: async (pool) => {
      const told = [...untold].map((digest) => ({ digest, expiresAtMs: ended.get(digest) ?? 0 }));
      if (told.length > 0) await storeEndedSessions(pool, told);
      for (const { digest } of told) untold.delete(digest);
      const news = (await listEndedSessions(pool, MAX_ENDED)).filter(({ digest }) => !ended.has(digest));
      for (const { digest, expiresAtMs } of news) note(digest, expiresAtMs);
      if (path !== null && news.length > 0) save(path);
    },
  };
}

function digestOf(value: string): string {
  return createHash('sha256').update(value).digest('base64url');
}

/** An unreadable file counts as empty: a copied cookie then holds until it expires. */
function readEnded(path: string): z.infer<typeof File> {
  try {
    return File.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    return [];
  }
}
