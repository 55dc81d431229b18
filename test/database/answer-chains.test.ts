/** Calls that continue one another's answers end in one run, in whatever order they are stored, and sums stay true. */
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { readTailEnd, tailLogs } from '../../src/control/log/tail-logs.ts';
import { verifyRollups } from '../../src/control/log/verify-rollups.ts';
import { buildBatch } from '../../src/control/shipper/build-batch.ts';
import { type IngestSession, openIngestSession } from '../../src/control/shipper/ingest-session.ts';
import { settleBatch } from '../../src/control/shipper/settle-batch.ts';
import type { CallBegin, SpoolEntry } from '../../src/vocabulary/call-record.ts';
import { type AdminDatabase, endedCall, idAt, startAdminDatabase } from '../support/admin-database.ts';
import { NOON_MS, priceByToken } from '../support/call-fixtures.ts';
import { POSTGRES_KINDS } from '../support/postgres.ts';

const START_LIMIT_MS = 60_000;
const [kind] = POSTGRES_KINDS;

/** As the proxy writes it for a key with runs from `previous_response_id`: call 3 is given the answer `r3`. */
function call(number: number, previous: string | null, begin: Partial<CallBegin> = {}): SpoolEntry {
  const chain = previous === null ? {} : { traceId: `response:${previous}`, traceSource: 'previous_response_id' };
  return endedCall(number, { traceId: null, ...chain, ...begin }, { answerId: `r${number}` });
}

/** A chain with a fork, one that goes on a run of its client's own, one whose first call is not known, and a single call. */
const CALLS = [
  call(1, null),
  call(2, 'r1'),
  call(3, 'r2'),
  call(4, 'r3'),
  call(5, 'r2'),
  call(11, null, { traceId: 'mine', traceSource: 'header', spanPath: 'plan' }),
  call(12, 'r11'),
  call(13, 'r12'),
  call(21, 'unknown'),
  call(22, 'r21'),
  call(31, null),
  call(41, 'r3', { traceId: 'own', traceSource: 'header' }),
  call(42, 'r41'),
];

let db: AdminDatabase;
let session: IngestSession;

beforeAll(async () => {
  if (kind === undefined) throw new Error('no PostgreSQL to test with');
  db = await startAdminDatabase(kind);
  session = await openIngestSession(db.pool);
}, START_LIMIT_MS);
afterAll(async () => {
  session.close();
  await db.stop();
});

const EMPTY = `truncate llm_requests, llm_runs, llm_run_facets, llm_cost_hourly, llm_cost_deltas, llm_metadata_hourly,
  llm_metadata_deltas, llm_facet_hourly, llm_facet_deltas cascade`;
beforeEach(() => db.pool.query(EMPTY));

async function ship(entries: readonly SpoolEntry[], from: IngestSession = session): Promise<void> {
  const { items } = buildBatch(entries, { process: 'test', priceCall: priceByToken, nowMs: NOON_MS + 3_600_000 });
  await from.ingest(items);
  const problems: string[] = [];
  await settleBatch(from.client, items, { warn: (fields) => problems.push(JSON.stringify(fields)), error: () => {} });
  expect(problems).toEqual([]);
}

async function readPlaces(): Promise<readonly string[]> {
  const { rows } = await db.pool.query<{ place: string }>(
    `select concat_ws(' ', answer_id, coalesce(trace_id, '-'), trace_source, span_path) as place from llm_requests order by id`,
  );
  return rows.map(({ place }) => place);
}

const PLACES = [
  'r1 response:r1 previous_response_id',
  'r2 response:r1 previous_response_id',
  'r3 response:r1 previous_response_id',
  'r4 response:r1 previous_response_id',
  'r5 response:r1 previous_response_id',
  'r11 mine header plan',
  'r12 mine previous_response_id',
  'r13 mine previous_response_id',
  'r21 response:unknown previous_response_id',
  'r22 response:unknown previous_response_id',
  'r31 -',
  'r41 own header',
  'r42 own previous_response_id',
];

test('in every order, in one batch or in many, a chain is one run, and the roll-ups equal the records', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.shuffledSubarray(CALLS, { minLength: CALLS.length, maxLength: CALLS.length }),
      fc.integer({ min: 1, max: 6 }),
      async (entries, size) => {
        await db.pool.query(EMPTY);
        for (let at = 0; at < entries.length; at += size) await ship(entries.slice(at, at + size));
        expect(await readPlaces()).toEqual(PLACES);
        expect(await verifyRollups(db.pool)).toEqual([]);
      },
    ),
    { numRuns: 4 },
  );
}, 120_000);

test('two nodes that store the two halves of a chain at once make one run; a batch that comes twice changes nothing', async () => {
  const other = await openIngestSession(db.pool);
  try {
    for (let round = 0; round < 3; round += 1) {
      await db.pool.query(EMPTY);
      const [first, second] = [CALLS.filter((_, at) => at % 2 === 0), CALLS.filter((_, at) => at % 2 === 1)];
      await Promise.all([ship(first), ship(second, other)]);
      await Promise.all([ship(second), ship(first, other)]);
      expect(await readPlaces()).toEqual(PLACES);
    }
    expect(await verifyRollups(db.pool)).toEqual([]);
  } finally {
    other.close();
  }
}, 60_000);

test('a long chain is one run, and so is one whose answers have all the same id', async () => {
  const chain = Array.from({ length: 300 }, (_, at) => call(at + 1, at === 0 ? null : `r${at}`));
  await ship(chain.slice(150));
  await ship(chain.slice(0, 150));
  const again = [1, 2, 3].map((at) => {
    const entry = call(1_000 + at, at === 1 ? null : 'same');
    return entry.type === 'end' ? { ...entry, end: { ...entry.end, answerId: 'same' } } : entry;
  });
  await ship(again);
  const { rows } = await db.pool.query('select trace_id, calls from llm_runs order by calls');
  expect(rows).toEqual([
    { trace_id: 'response:same', calls: 3 },
    { trace_id: 'response:r1', calls: 300 },
  ]);
});

test('a call that is moved to another run is no news to the live tail, whenever that reads', async () => {
  let last = await readTailEnd(db.pool);
  const start = last;
  async function tail(limit: number): Promise<readonly unknown[]> {
    const rows = await tailLogs(db.pool, 1, [], last, limit);
    last = rows.at(-1)?.position ?? last;
    return rows.map(({ record }) => record.trace_id === 'response:r1' && record.id);
  }
  await ship([call(4, 'r3')]);
  expect(await tail(10)).toEqual([false]);
  for (const number of [3, 2, 1]) {
    await ship([call(number, number === 1 ? null : `r${number - 1}`)]);
    expect(await tail(10)).toHaveLength(1);
  }
  expect(await tail(10)).toEqual([]);
  last = start;
  for (const number of [4, 3, 2, 1]) expect(await tail(1)).toEqual([idAt(number)]);
  expect(await tail(1)).toEqual([]);
});
