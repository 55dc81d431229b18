/**
 * Re-prices calls at their own time with the current price book, after batches that began earlier are in. A dry run
 * writes only the sums. When prices change meanwhile, it continues with the newer ones; the result names all versions,
 * and a second run evens them out. Restarting could go on for ever, and failing would leave it half done all the same.
 */
import type pg from 'pg';
import { z } from 'zod';
import { chunkRows, nextChunkRows } from '../../jobs/chunk-rows.ts';
import type { Job, JobKind, Progress } from '../../jobs/job.ts';
import { lockLog } from '../../log/lock-log.ts';
import { waitForBatches } from '../../store/ingest-lock.ts';
import { PRICED_STATUSES } from '../declared/billable-from-row.ts';
import type { CurrentPriceBook } from '../declared/current-price-book.ts';
import { applyChanges } from './apply-changes.ts';
import { addDaySums, readDayTotals, sumByDay } from './day-sums.ts';
import { type PriceEstimate, updateEstimates } from './estimated-costs.ts';
import { CallPosition, countCalls, NEWEST, rangeOf, readCalls } from './read-calls.ts';
import { type PricedRow, type RepricedCall, repriceCall } from './reprice-call.ts';
import { REPRICE_KIND, RepriceInput } from './reprice-request.ts';

const FIRST_ROWS = 500;
/** Bounds memory: a chunk's calls are held at once. */
const MAX_ROWS = 2_500;
/** A bound on the versions in the result. */
const MAX_VERSIONS = 20;

const Cursor = z.object({
  before: CallPosition,
  rows: z.number().int(),
  read: z.number().int(),
  versions: z.array(z.string()),
});
type Cursor = Readonly<z.infer<typeof Cursor>>;

const START: Cursor = { before: NEWEST, rows: FIRST_ROWS, read: 0, versions: [] };

export interface RepriceOptions {
  readonly prices: CurrentPriceBook;
  /** Absent: estimated costs stay. */
  readonly priceEstimate?: PriceEstimate;
  readonly maxRows?: number;
}

export function createRepriceKind(options: RepriceOptions): JobKind {
  return {
    kind: REPRICE_KIND,
    runChunk: async (client, job) => {
      const input = RepriceInput.parse(job.input);
      if (job.cursor === null) return begin(client);
      const cursor = Cursor.parse(job.cursor);
      // Counting is slow, and batches would wait for it inside the barrier's transaction.
      if (job.total === null) return count(client, job, input, cursor);
      return runChunk(client, job, input, cursor, options);
    },
  };
}

async function begin(client: pg.ClientBase): Promise<Progress> {
  await waitForBatches(client);
  return { phase: 'counting calls', cursor: START, done: 0, total: null, result: null, pauseMs: 0 };
}

async function count(client: pg.ClientBase, job: Job, input: RepriceInput, cursor: Cursor): Promise<Progress> {
  const total = await countCalls(client, rangeOf(job.accountId, input));
  return { phase: phaseOf(input), cursor, done: 0, total, result: null, pauseMs: 0 };
}

function phaseOf({ dry_run: isDryRun }: RepriceInput): string {
  return isDryRun ? 'comparing prices' : 'pricing calls again';
}

async function runChunk(
  client: pg.ClientBase,
  job: Job,
  input: RepriceInput,
  cursor: Cursor,
  { prices, priceEstimate, maxRows = MAX_ROWS }: RepriceOptions,
): Promise<Progress> {
  const startedMs = performance.now();
  const limit = chunkRows(cursor.rows, job.failures, maxRows);
  if (!input.dry_run) await lockLog(client);
  await prices.refresh(client);
  const { version, priceCall } = prices.book(job.accountId);
  const range = rangeOf(job.accountId, input);
  const { read, last, rows } = await readCalls(client, range, cursor.before, limit, priceEstimate !== undefined);

  const calls = rows.filter(hasPricedCost).map((row) => repriceCall(row, priceCall));
  const leftAlone = input.dry_run ? new Set() : await applyChanges(client, { ...input, id: job.id }, changesOf(calls));
  await addDaySums(client, job.id, sumByDay(calls.filter(({ row }) => !leftAlone.has(row.id))));
  if (priceEstimate !== undefined && !input.dry_run) await updateEstimates(client, rows, priceCall, priceEstimate);

  const next: Cursor = {
    before: last ?? cursor.before,
    rows: nextChunkRows(limit, performance.now() - startedMs, MAX_ROWS),
    read: cursor.read + read,
    versions: addVersion(cursor.versions, version),
  };
  const isEnd = read < limit;
  return {
    phase: isEnd ? 'done' : phaseOf(input),
    cursor: next,
    done: next.read,
    // Late-shipped calls may have arrived meanwhile.
    total: isEnd ? next.read : Math.max(next.read, job.total ?? 0),
    result: isEnd ? await readResult(client, job.id, input, next) : null,
  };
}

function hasPricedCost(row: PricedRow): boolean {
  return PRICED_STATUSES.some((status) => status === row.cost_status);
}

function changesOf(calls: readonly RepricedCall[]): readonly RepricedCall[] {
  return calls.filter(({ isChanged }) => isChanged);
}

function addVersion(versions: Cursor['versions'], version: string): Cursor['versions'] {
  return versions.includes(version) || versions.length >= MAX_VERSIONS ? versions : [...versions, version];
}

async function readResult(client: pg.ClientBase, jobId: number, input: RepriceInput, { versions }: Cursor) {
  const totals = await readDayTotals(client, jobId);
  return { dry_run: input.dry_run, ...totals, price_versions: versions };
}
