/**
 * One connection that stores batches: each batch is one transaction, all or nothing, and may be repeated without harm.
 * It decides nothing about failures; they are thrown, and a session whose batch failed for want of a connection is
 * closed by its owner.
 */
import type pg from 'pg';
import { z } from 'zod';
import { readSpanPath } from '../runs/span-path.ts';
import { withAnswerLimit } from '../store/answer-limit.ts';
import { copyIn } from '../store/copy-in.ts';
import { storableJson } from '../store/copy-text.ts';
import { BEGIN_BATCH } from '../store/ingest-lock.ts';
import { dayOf, ensurePartitions } from '../store/partitions.ts';
import { inTransaction, keepConnection } from '../store/pool.ts';
import type { BatchItem, CallItem, CheckpointItem, OpenItem } from './batch-item.ts';
import { BATCH_TIMEOUT_MS, BatchTimeoutError, MAX_BATCH_TIMEOUT_MS } from './batch-pace.ts';
import { claimResults } from './billed-results.ts';
import { COPY_BODIES, encodeBodyRows } from './body-rows.ts';
import {
  COPY_ROWS,
  CREATE_STAGING,
  DELETE_ENDED,
  DELETE_REVISIONS,
  DROP_EMPTY_COSTS,
  DROP_EMPTY_ROLLUPS,
  INSERT_OPEN,
  INSERT_ROWS,
  TAKE_OUT_INTERRUPTED,
  UPDATE_CHECKPOINTS,
} from './ingest-statements.ts';
import { spanNameOf } from './make-row.ts';
import { type CallsOfKey, removeCalls } from './remove-calls.ts';

/** Changes of prices take a moment; what waits for this waits no longer than any batch. */
const HOLD_PRICES = "set local lock_timeout = '10s'; select version from price_book_version for share";

export interface IngestSession {
  /**
   * Rows inserted; a call that has its row already is not among them. Throws a StalePricesError, and stores nothing,
   * when the prices have changed since `pricesVersion`; null, the default: whatever they are.
   */
  ingest(items: readonly BatchItem[], pricesVersion?: number | null): Promise<number>;
  /**
   * Takes all calls of a key back out of the log, with their bodies and their share of every roll-up. Returns how many.
   */
  remove(calls: CallsOfKey): Promise<number>;
  /**
   * Nobody changes prices until `work` has ended, so that it is not overtaken. Rejects (55P03) when someone who changes
   * them takes long.
   */
  holdPrices<T>(work: () => Promise<T>): Promise<T>;
  /** The time for each of the next batches; a minute at first. */
  allow(limitMs: number): void;
  readonly client: pg.PoolClient;
  /** Forgets which partitions exist: one was dropped meanwhile. */
  forgetPartitions(): void;
  close(): void;
}

/** The batch was priced with prices that are not the latest any more: it is to be priced again. */
export class StalePricesError extends Error {
  constructor() {
    super('the prices have changed');
    this.name = 'StalePricesError';
  }
}

export async function openIngestSession(pool: pg.Pool): Promise<IngestSession> {
  // The staging tables belong to the connection, so it is ended, never given back.
  const { client, close } = await keepConnection(pool);
  try {
    await client.query(CREATE_STAGING);
  } catch (error) {
    close();
    throw error;
  }
  const knownDays = new Set<string>();
  // Its answers have the time of the whole batch, which the connection is closed after.
  const patient = withAnswerLimit(client, MAX_BATCH_TIMEOUT_MS);
  let allowedMs = BATCH_TIMEOUT_MS;
  let setMs: number | null = null;

  async function inTime<T>(work: () => Promise<T>): Promise<T> {
    const limitMs = allowedMs;
    let isLate = false;
    const deadline = setTimeout(() => {
      isLate = true;
      close();
    }, limitMs);
    try {
      // So that a server that is cut off does not go on with it.
      if (setMs !== limitMs) await client.query(`set statement_timeout = ${limitMs}`);
      setMs = limitMs;
      return await work();
    } catch (error) {
      throw isLate ? new BatchTimeoutError(limitMs, { cause: error }) : error;
    } finally {
      clearTimeout(deadline);
    }
  }

  async function makePartitions(calls: readonly CallItem[]): Promise<void> {
    const days = new Set(
      calls.map((call) => dayOf(call.row.requested_at.getTime())).filter((day) => !knownDays.has(day)),
    );
    if (days.size === 0) return;
    await transaction(patient, 'begin', () => ensurePartitions(patient, [...days]));
    for (const day of days) knownDays.add(day);
  }

  return {
    client,
    allow: (limitMs) => {
      allowedMs = limitMs;
    },
    forgetPartitions: () => knownDays.clear(),
    close,
    async ingest(items, pricesVersion = null) {
      const calls = items.filter((item) => item.kind === 'call');
      const opens = items.filter((item) => item.kind === 'open');
      const checkpoints = items.filter((item) => item.kind === 'checkpoint');
      return inTime(async () => {
        await makePartitions(calls);
        return transaction(patient, BEGIN_BATCH, async (answers) => {
          if (pricesVersion !== null && readPricesVersion(answers) !== pricesVersion) throw new StalePricesError();
          const inserted = calls.length === 0 ? 0 : await storeCalls(patient, calls);
          if (opens.length > 0) await patient.query(named('insert_open', INSERT_OPEN, [openJson(opens)]));
          if (checkpoints.length > 0) {
            await patient.query(named('checkpoints', UPDATE_CHECKPOINTS, [checkpointJson(checkpoints)]));
          }
          return inserted;
        });
      });
    },
    holdPrices(work) {
      // On another connection, since `work` may take several transactions.
      return inTransaction(pool, async (holder) => {
        await holder.query(HOLD_PRICES);
        return work();
      });
    },
    async remove(calls) {
      // All or nothing, on somebody's request: there is no smaller part of it.
      allowedMs = MAX_BATCH_TIMEOUT_MS;
      return inTime(() => transaction(patient, BEGIN_BATCH, () => removeCalls(patient, calls)));
    },
  };
}

async function storeCalls(client: pg.ClientBase, calls: readonly CallItem[]): Promise<number> {
  await copyIn(client, COPY_ROWS, calls.map((call) => call.copyText).join(''));
  await claimResults(client, calls);
  const inserted = await insertStaged(client);
  if (inserted.size < calls.length) {
    // Some have a row already: mostly replays, but an interrupted row gives way to the real ending.
    const removed = await client.query(named('take_out', TAKE_OUT_INTERRUPTED, []));
    if ((removed.rowCount ?? 0) > 0) {
      for (const id of await insertStaged(client)) inserted.add(id);
      await client.query(DROP_EMPTY_ROLLUPS);
      await client.query(DROP_EMPTY_COSTS);
      await client.query(DELETE_REVISIONS);
    }
  }
  const bodies = await encodeBodyRows(calls.filter((call) => inserted.has(call.row.id)));
  if (bodies !== null) await copyIn(client, COPY_BODIES, bodies);
  await client.query(named('delete_ended', DELETE_ENDED, []));
  return inserted.size;
}

async function insertStaged(client: pg.ClientBase): Promise<Set<string>> {
  const { rows } = await client.query<{ id: string }>(named('insert_rows', INSERT_ROWS, []));
  return new Set(rows.map((row) => row.id));
}

/** `work` gets what `begin` answered: one result for each of its statements. */
async function transaction<T>(
  client: pg.ClientBase,
  begin: string,
  work: (answers: unknown) => Promise<T>,
): Promise<T> {
  try {
    const result = await work(await client.query(begin));
    await client.query('commit');
    return result;
  } catch (error) {
    // When the connection is gone there is nothing to roll back, and the first error is the one that tells.
    await client.query('rollback').catch(() => {});
    throw error;
  }
}

const PricesAnswer = z.array(z.object({ rows: z.array(z.object({ version: z.number().optional() })) }));

/** What the last statement of `BEGIN_BATCH` answered. Several statements in one text answer with an array. */
function readPricesVersion(answers: unknown): number | null {
  return PricesAnswer.parse(answers).at(-1)?.rows[0]?.version ?? null;
}

function named(name: string, text: string, values: readonly string[]) {
  return { name, text, values: [...values] };
}

function openJson(opens: readonly OpenItem[]): string {
  return storableJson(
    opens.map(({ begin, process }) => ({
      id: begin.id,
      requested_at: new Date(begin.requestedAtMs).toISOString(),
      account_id: begin.accountId,
      key_id: begin.keyId,
      node: begin.node,
      process,
      provider: begin.provider,
      endpoint: begin.endpoint,
      model_requested: begin.modelRequested,
      trace_id: begin.traceId,
      span_path: begin.spanPath,
      span_key: begin.spanPath === null ? null : readSpanPath(begin.spanPath).key,
      span_name: spanNameOf(begin, null),
      begin,
    })),
  );
}

function checkpointJson(checkpoints: readonly CheckpointItem[]): string {
  return storableJson(checkpoints.map(({ checkpoint }) => ({ id: checkpoint.id, checkpoint })));
}
