/**
 * The sessions that were ended before their date: a copy of such a cookie is refused. A cookie proves itself (its
 * signature), so only these few are remembered: in memory, where every request looks; in the database, for the other
 * nodes; and in a file of the data directory, for a start while the database is away.
 */
import { createHash } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import type pg from 'pg';
import type { Logger } from 'pino';
import { z } from 'zod';
import { listEndedSessions, storeEndedSessions } from '../store/sign-ins.ts';

/** Only who has a session can end one, so nobody else can fill it; beyond it the earliest end of all gives way. */
const MAX_ENDED = 2_000;

const File = z.array(z.tuple([z.string(), z.number()]));

export interface EndedSessions {
  readonly has: (value: string) => boolean;
  readonly add: (value: string, expiresAtMs: number) => void;
  /** Tells the other nodes what was ended here, and learns what they have ended. Throws what the database throws. */
  readonly exchange: (pool: pg.Pool) => Promise<void>;
}

/** `path` null: in memory only. */
export function openEndedSessions(path: string | null, log: Logger, nowMs: () => number = Date.now): EndedSessions {
  /** Digest of the cookie's value → when it would have ended by itself; the first ended first. */
  const ended = new Map(path === null ? [] : readEnded(path));

  /** Not known to be in the database: what an earlier process left in the file, too. */
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

/**
 * None when there is no file, or one that is not ours: then a copied cookie would hold until its date, as if unended.
 */
function readEnded(path: string): z.infer<typeof File> {
  try {
    return File.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    return [];
  }
}
