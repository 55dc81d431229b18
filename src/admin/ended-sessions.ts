/**
 * The sessions that were ended before their date: a copy of such a cookie is refused. A cookie proves itself (its
 * signature), so only these few are remembered, in memory and in a file of the data directory, for the next start.
 */
import { createHash } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import type { Logger } from 'pino';
import { z } from 'zod';

/** Only who has a session can end one, so nobody else can fill it; beyond it the earliest end of all gives way. */
const MAX_ENDED = 2_000;

const File = z.array(z.tuple([z.string(), z.number()]));

export interface EndedSessions {
  readonly has: (value: string) => boolean;
  readonly add: (value: string, expiresAtMs: number) => void;
}

/** `path` null: in memory only. */
export function openEndedSessions(path: string | null, log: Logger, nowMs: () => number = Date.now): EndedSessions {
  /** Digest of the cookie's value → when it would have ended by itself; the first ended first. */
  const ended = new Map(path === null ? [] : readEnded(path));

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
      ended.set(digestOf(value), expiresAtMs);
      for (const [digest, endsMs] of ended) if (endsMs <= nowMs()) ended.delete(digest);
      const [first] = ended.keys();
      if (ended.size > MAX_ENDED && first !== undefined) ended.delete(first);
      if (path !== null) save(path);
    },
  };
}

function digestOf(value: string): string {
  return createHash('sha256').update(value).digest('base64url');
}

/** None when there is no file, or one that is not ours: then a copied cookie would hold until its date, as if unended. */
function readEnded(path: string): z.infer<typeof File> {
  try {
    return File.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    return [];
  }
}
