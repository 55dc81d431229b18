/** What a job is: long work cut into chunks that each stand or fall as one transaction. No database, no clock. */
import type pg from 'pg';
import type { JsonObject } from '../token-usage.ts';

export const JOB_STATES = ['queued', 'running', 'cancelled', 'done', 'failed'] as const;
export type JobState = (typeof JOB_STATES)[number];

/** A row of `jobs`. */
export interface Job {
  readonly id: number;
  readonly accountId: number;
  readonly kind: string;
  /** Of one subject one job at a time is under way. */
  readonly subject: string | null;
  readonly title: string;
  readonly input: JsonObject;
  /** What the chunk before left for the next; null for the first. */
  readonly cursor: JsonObject | null;
  readonly phase: string;
  readonly done: number;
  /** Null when nobody knows. */
  readonly total: number | null;
  readonly unit: string;
  readonly ratePerSecond: number | null;
  readonly state: JobState;
  /** Chunks that failed one after another: a smaller one may help. */
  readonly failures: number;
  readonly error: string | null;
  readonly result: JsonObject | null;
  readonly createdAt: Date;
  readonly startedAt: Date | null;
  readonly finishedAt: Date | null;
  readonly heartbeatAt: Date;
}

/** How far a job is after a chunk. */
export interface Progress {
  /** What it is doing, in a few words. */
  readonly phase: string;
  readonly cursor: JsonObject;
  /** Of the whole job, not of the chunk. */
  readonly done: number;
  readonly total: number | null;
  /** Not null: that was the last chunk, and this is what came out. */
  readonly result: JsonObject | null;
  /** Until the next chunk; left out: as long as is fair to the other users of the database. */
  readonly pauseMs?: number;
}

/**
 * A kind of job. A chunk works on the client it is given and on nothing else: it runs inside a transaction that also
 * stores its progress, so a chunk whose process dies has not happened, and the next one begins at the same cursor. It
 * should take about `CHUNK_MS`. Throwing undoes it; it is tried again, and the job fails when that does not help.
 */
export interface JobKind {
  readonly kind: string;
  readonly runChunk: (client: pg.ClientBase, job: Job) => Promise<Progress>;
}

export const CHUNK_MS = 300;
