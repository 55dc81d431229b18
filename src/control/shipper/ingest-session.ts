/** One connection that stores batches, each a repeatable transaction. Its owner closes it after a broken connection. */
import type pg from 'pg';
import { z } from 'zod';
import { type CallMarks, NO_MARKS } from '../../formats/texts/call-marks.ts';
import type { CallBody } from '../../vocabulary/call-record.ts';
import { factOf, insertFacts } from '../brakes/brake-facts.ts';
import { addSpend, type StoredEnd } from '../budgets/add-spend.ts';
import { eraseLate } from '../erasure/erase-late.ts';
import { addCallsToFacets, addSourceToFacets } from '../log/facet-deltas.ts';
import { readSpanPath } from '../log/span-path.ts';
import { withAnswerLimit } from '../store/answer-limit.ts';
import { copyIn } from '../store/copy-in.ts';
import { storableJson, withIndexedMetadata } from '../store/copy-text.ts';
import { BEGIN_BATCH } from '../store/ingest-lock.ts';
import type { LlmRequestRow } from '../store/log-columns.ts';
import { dayOf, ensurePartitions } from '../store/partitions.ts';
import { inTransaction, keepConnection } from '../store/pool.ts';
import { type CallBodies, COPY_TEXTS, encodeTextRows, readTextRows } from '../texts/text-rows.ts';
import type { BatchItem, CallItem, CheckpointItem, OpenItem } from './batch-item.ts';
import { BATCH_TIMEOUT_MS, BatchTimeoutError, MAX_BATCH_TIMEOUT_MS } from './batch-pace.ts';
import { claimResults } from './billed-results.ts';
import { COPY_BODIES, encodeBodyRows } from './body-rows.ts';
import { type IndexedKeys, indexMetadata, readIndexedKeys } from './index-metadata.ts';
import {
  COPY_ROWS,
  CREATE_STAGING,
  DELETE_ENDED,
  DELETE_REVISIONS,
  INSERT_OPEN,
  INSERT_ROWS,
  READ_STAGED,
  REMOVED_CALLS,
  TAKE_OUT_INTERRUPTED,
  UPDATE_CHECKPOINTS,
} from './ingest-statements.ts';
import { spanNameOf } from './make-row.ts';
import { type CallsOfKey, removeCalls } from './remove-calls.ts';

/** Changes of prices are short; the limit keeps this wait within a batch's time. */
const HOLD_PRICES = "set local lock_timeout = '10s'; select version from price_book_version for share";

export interface IngestSession {
  /** Returns the number of inserted rows. Throws a StalePricesError when prices have changed since a given version. */
  ingest(items: readonly BatchItem[], pricesVersion?: number | null): Promise<number>;
  /** Removes all calls of a key with bodies and sums. Returns their number. */
  remove(calls: CallsOfKey): Promise<number>;
  /** Keeps prices unchanged until `work` ends. Rejects (55P03) when a change of prices takes long. */
  holdPrices<T>(work: () => Promise<T>): Promise<T>;
  allow(limitMs: number): void;
  readonly client: pg.PoolClient;
  /** Call it after a partition was dropped. */
  forgetPartitions(): void;
  close(): void;
}

export class StalePricesError extends Error {
  constructor() {
    super('the prices have changed');
    this.name = 'StalePricesError';
  }
}

export interface TextOptions {
  /** Asked for each batch. False: the bodies are not read, and nobody can search in them. */
  readonly areKept: () => boolean;
  /** Called with the ids of calls whose texts could not be read; they are stored without. */
  readonly onFailed: (ids: readonly string[]) => void;
}

export async function openIngestSession(
  pool: pg.Pool,
  texts: TextOptions = { areKept: () => true, onFailed: () => {} },
): Promise<IngestSession> {
  // The staging tables belong to the connection, so it is closed, never returned.
  const { client, close } = await keepConnection(pool);
  try {
    await client.query(CREATE_STAGING);
  } catch (error) {
    close();
    throw error;
  }
  const knownDays = new Set<string>();
  // A batch limits its own time and closes the connection.
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
      // The server stops the statement when the connection is cut.
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
          const { version, keys, hasErasures } = readBeginning(answers);
          if (pricesVersion !== null && version !== pricesVersion) throw new StalePricesError();
          const inserted = calls.length === 0 ? 0 : await storeCalls(patient, calls, readIndexedKeys(keys), texts);
          if (hasErasures && calls.length > 0) await eraseLate(patient);
          if (opens.length > 0) await patient.query(named('insert_open', INSERT_OPEN, [openJson(opens)]));
          if (checkpoints.length > 0) {
            await patient.query(named('checkpoints', UPDATE_CHECKPOINTS, [checkpointJson(checkpoints)]));
          }
          return inserted;
        });
      });
    },
    holdPrices(work) {
      // `work` may take several transactions, so the lock is on another connection.
      return inTransaction(pool, async (holder) => {
        await holder.query(HOLD_PRICES);
        return work();
      });
    },
    async remove(calls) {
      // All or nothing at a request: it cannot be split.
      allowedMs = MAX_BATCH_TIMEOUT_MS;
      return inTime(() => transaction(patient, BEGIN_BATCH, () => removeCalls(patient, calls)));
    },
  };
}

async function storeCalls(
  client: pg.ClientBase,
  calls: readonly CallItem[],
  keys: IndexedKeys,
  texts: TextOptions,
): Promise<number> {
  const rows = calls.map(({ row, copyText }) => withIndexedMetadata(copyText, indexMetadata(row, keys)));
  await copyIn(client, COPY_ROWS, rows.join(''));
  await claimResults(client, calls);
  const inserted = await insertStaged(client);
  const replaced = new Set<string>();
  if (inserted.size < calls.length) {
    // Ids with a row are mostly replays, but a real ending replaces an interrupted row.
    const removed = await client.query(named('take_out', TAKE_OUT_INTERRUPTED, []));
    if ((removed.rowCount ?? 0) > 0) {
      for (const id of await insertStaged(client)) {
        inserted.add(id);
        replaced.add(id);
      }
      await client.query(DELETE_REVISIONS);
      await addSourceToFacets(client, REMOVED_CALLS);
    }
  }
  await addSpend(client, listBudgeted(calls, inserted, replaced));
  const stored = await rowsOf(client, calls, inserted);
  await addCallsToFacets(client, stored);
  const marks = await storeContents(
    client,
    calls.filter((call) => inserted.has(call.row.id)),
    texts,
  );
  const facts = stored.map((row) => factOf(row, marks.get(row.id) ?? NO_MARKS, Date.now()));
  await insertFacts(
    client,
    facts.filter((fact) => fact !== null),
  );
  await client.query(named('delete_ended', DELETE_ENDED, []));
  return inserted.size;
}

function listBudgeted(
  calls: readonly CallItem[],
  inserted: ReadonlySet<string>,
  replaced: ReadonlySet<string>,
): readonly StoredEnd[] {
  return calls.flatMap(({ row, budgeted }) =>
    budgeted === null || !inserted.has(row.id) ? [] : [{ ...budgeted, isReplacement: replaced.has(row.id) }],
  );
}

/** Bodies and texts of calls that were inserted; returns the marks of the texts. This is where a batch has its texts in memory. */
async function storeContents(
  client: pg.ClientBase,
  calls: readonly CallItem[],
  texts: TextOptions,
): Promise<ReadonlyMap<string, CallMarks>> {
  const bodies = await encodeBodyRows(calls);
  if (bodies === null) return new Map();
  await copyIn(client, COPY_BODIES, bodies);
  if (!texts.areKept()) return new Map();
  const { rows, failed } = await readTextRows(calls.map(contentsOf));
  if (rows.length > 0) await copyIn(client, COPY_TEXTS, encodeTextRows(rows));
  if (failed.length > 0) texts.onFailed(failed);
  return new Map(rows.map(({ id, marks }) => [id, marks]));
}

function contentsOf({ row, bodies }: CallItem): CallBodies {
  const bodyOf = (direction: CallBody['direction']) => bodies.find((body) => body.direction === direction) ?? null;
  return {
    id: row.id,
    requestedAt: row.requested_at,
    accountId: row.account_id,
    request: bodyOf('request'),
    response: bodyOf('response'),
  };
}

/** The rows as they are stored: a result that was counted before costs nothing. */
async function rowsOf(
  client: pg.ClientBase,
  calls: readonly CallItem[],
  inserted: ReadonlySet<string>,
): Promise<readonly LlmRequestRow[]> {
  const rows = new Map(calls.filter(({ row }) => inserted.has(row.id)).map(({ row }) => [row.id, row]));
  const claimed = calls
    .filter(({ row, billedOnceAs }) => billedOnceAs !== null && rows.has(row.id))
    .map(({ row }) => row.id);
  if (claimed.length > 0) {
    const { rows: stored } = await client.query<Partial<LlmRequestRow> & { id: string }>(READ_STAGED, [claimed]);
    for (const one of stored) {
      const row = rows.get(one.id);
      if (row !== undefined) rows.set(one.id, { ...row, ...one });
    }
  }
  return [...rows.values()];
}

async function insertStaged(client: pg.ClientBase): Promise<Set<string>> {
  const { rows } = await client.query<{ id: string }>(named('insert_rows', INSERT_ROWS, []));
  return new Set(rows.map((row) => row.id));
}

/** `work` gets the result of each statement of `begin`. */
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
    // Without a connection there is nothing to roll back; the first error is reported.
    await client.query('rollback').catch(() => {});
    throw error;
  }
}

const Beginning = z.object({
  version: z.number().nullable(),
  keys: z.array(z.tuple([z.number(), z.string(), z.string()])),
  hasErasures: z.boolean(),
});
const Answers = z.array(z.object({ rows: z.array(z.unknown()) }));
const LastRow = z.object({ beginning: Beginning });

/** Reads the last result of `BEGIN_BATCH`, an array of one result for each statement. */
function readBeginning(answers: unknown): z.infer<typeof Beginning> {
  return LastRow.parse(Answers.parse(answers).at(-1)?.rows[0]).beginning;
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
