/** A job is long work in chunks, each of which is one transaction. No database, no clock. */
import type pg from 'pg';
import type { JsonObject } from '../../vocabulary/token-usage.ts';

export const JOB_STATES = ['queued', 'running', 'cancelled', 'done', 'failed'] as const;
export type JobState = (typeof JOB_STATES)[number];

export interface Job {
  readonly id: number;
  readonly accountId: number;
  readonly kind: string;
  /** A subject has one active job at most. */
  readonly subject: string | null;
  readonly title: string;
  readonly input: JsonObject;
  /** Left by the chunk before; null for the first. */
  readonly cursor: JsonObject | null;
  readonly phase: string;
  readonly done: number;
  readonly total: number | null;
  readonly unit: string;
  readonly ratePerSecond: number | null;
  readonly state: JobState;
  /** Consecutive failed chunks: a smaller one may help. */
  readonly failures: number;
  readonly error: string | null;
  readonly result: JsonObject | null;
  readonly createdAt: Date;
  readonly startedAt: Date | null;
  readonly finishedAt: Date | null;
  readonly heartbeatAt: Date;
}

export interface Progress {
  readonly phase: string;
  readonly cursor: JsonObject;
  /** Counts the whole job, not the chunk. */
  readonly done: number;
  readonly total: number | null;
  readonly result: JsonObject | null;
  /** Milliseconds until the next chunk; by default what leaves other users their share. */
  readonly pauseMs?: number;
}

/**
 * A kind of job. A chunk uses only its client, in a transaction that also stores its progress: after a crash the next
 * chunk begins at the same cursor. It should take about `CHUNK_MS`. Throwing rolls it back; it is retried, and the job
 * fails when that does not help.
 */
export interface JobKind {
  readonly kind: string;
  readonly runChunk: (client: pg.ClientBase, job: Job) => Promise<Progress>;
}

export const CHUNK_MS = 300;
