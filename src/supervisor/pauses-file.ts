/** Keeps what is paused for a start without a database: a paused run stays paused. */
import type { Logger } from 'pino';
import { z } from 'zod';
import type { Pause } from '../vocabulary/channel.ts';
import { readJsonFile, writePrivateFile } from './private-file.ts';

const Pauses = z.array(
  z.object({
    accountId: z.number(),
    scope: z.enum(['run', 'key']),
    value: z.string(),
    hitId: z.number(),
    reason: z.string(),
    sinceMs: z.number(),
  }),
);

/** Empty where the file is missing or damaged; the database says it anew. */
export function readPausesFile(path: string): readonly Pause[] {
  return Pauses.safeParse(readJsonFile(path)).data ?? [];
}

/** Logs a failed write: a start without a database then knows of no pause, or of an old one. */
export function keepPausesFile(path: string, pauses: readonly Pause[], log: Logger): void {
  try {
    writePrivateFile(path, `${JSON.stringify(pauses)}\n`);
  } catch (error) {
    log.warn({ err: error }, 'what is paused could not be noted for the next start');
  }
}
