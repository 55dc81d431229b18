/** The account book of one process against a world that knows everything, over any sequence of calls, crashes and losses. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { balanceEnded, balanceLive, settleEnded } from '../../src/control/ledger/balance-process.ts';
import { tallyBatch } from '../../src/control/shipper/tally-batch.ts';
import { CallTally } from '../../src/spool/call-tally.ts';
import type { SpoolEntry } from '../../src/vocabulary/call-record.ts';
import { callBegin, callEnd } from '../support/call-fixtures.ts';

type Step =
  /** A call is accepted; its beginning is written, or left out. */
  | { readonly type: 'accept'; readonly isWritten: boolean }
  /** An open call ends: its ending is written, written twice (a write that was tried again), or given up. */
  | { readonly type: 'end'; readonly which: number; readonly how: 'written' | 'twice' | 'lost' | 'refused' }
  /** The shipper stores so many records; it may die between the database's commit and the cursor. */
  | { readonly type: 'ship'; readonly records: number; readonly isCrash: boolean };

const STEP: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ type: fc.constant('accept' as const), isWritten: fc.boolean() }),
  fc.record({
    type: fc.constant('end' as const),
    which: fc.nat(20),
    how: fc.constantFrom('written', 'written', 'twice', 'lost', 'refused'),
  }),
  fc.record({ type: fc.constant('ship' as const), records: fc.integer({ min: 1, max: 6 }), isCrash: fc.boolean() }),
);

interface World {
  readonly spool: SpoolEntry[];
  readonly open: Set<number>;
  readonly lost: Set<number>;
  /** Calls whose record the database takes in no form. */
  readonly refused: Set<number>;
  /** In the database: rows, and calls that are open there. */
  readonly rows: Map<number, string>;
  readonly openRows: Set<number>;
  accepted: number;
  kept: number;
}

function numberOf(entry: SpoolEntry): number {
  return entry.type === 'begin' || entry.type === 'end' ? (entry.begin.ordinal ?? 0) : 0;
}

/** As the shipper: what it was told of a batch, stored once whatever is repeated. */
function store(world: World, batch: readonly SpoolEntry[]): ReadonlySet<string> {
  const aside = new Set<string>();
  for (const entry of batch) {
    const number = numberOf(entry);
    if (entry.type === 'begin' && !world.rows.has(number)) world.openRows.add(number);
    if (entry.type !== 'end') continue;
    world.openRows.delete(number);
    if (world.refused.has(number)) aside.add(entry.begin.id);
    else world.rows.set(number, entry.end.outcome);
  }
  return aside;
}

function countEndings(entries: readonly SpoolEntry[]): number {
  return new Set(entries.filter(({ type }) => type === 'end').map(numberOf)).size;
}

test('whatever happens, every accepted call is stored, waiting, open, set aside or lost, and none is two of them', () => {
  fc.assert(
    fc.property(fc.array(STEP, { maxLength: 60 }), fc.boolean(), (steps, isLastCrash) => {
      const world: World = {
        spool: [],
        open: new Set(),
        lost: new Set(),
        refused: new Set(),
        rows: new Map(),
        openRows: new Set(),
        accepted: 0,
        kept: 0,
      };
      // The cursor's file: a position and the tally at it.
      let file = { position: 0, calls: JSON.stringify(CallTally.empty().toData()) };
      for (const step of steps) {
        apply(world, step);
        if (step.type === 'ship') file = ship(world, file, step.records, step.isCrash);
        expectBalance(world, file);
      }
      while (file.position < world.spool.length) file = ship(world, file, 4, false);
      expectClosed(world, file.calls, isLastCrash);
    }),
    { numRuns: 300 },
  );
});

function apply(world: World, step: Step): void {
  if (step.type === 'accept') {
    world.accepted += 1;
    world.open.add(world.accepted);
    if (step.isWritten) world.spool.push({ type: 'begin', begin: begin(world.accepted) });
  } else if (step.type === 'end') {
    const number = [...world.open][step.which % Math.max(1, world.open.size)];
    if (number === undefined) return;
    world.open.delete(number);
    if (step.how === 'lost') world.lost.add(number);
    else world.kept += 1;
    if (step.how === 'refused') world.refused.add(number);
    const frame: SpoolEntry = { type: 'end', begin: begin(number), end: callEnd(number) };
    if (step.how !== 'lost') world.spool.push(frame);
    if (step.how === 'twice') world.spool.push(frame);
  }
}

function begin(number: number) {
  return callBegin(number, { ordinal: number });
}

function ship(world: World, file: { position: number; calls: string }, records: number, isCrash: boolean) {
  const batch = world.spool.slice(file.position, file.position + records);
  const aside = store(world, batch);
  if (isCrash) return file;
  const tally = CallTally.from(JSON.parse(file.calls));
  tallyBatch(tally, batch, aside, false);
  return { position: file.position + batch.length, calls: JSON.stringify(tally.toData()) };
}

function expectBalance(world: World, file: { position: number; calls: string }): void {
  const { stored, setAside, highestOrdinal } = CallTally.from(JSON.parse(file.calls));
  const behind = world.spool.slice(file.position);
  const found = {
    stored,
    setAside,
    highestOrdinal,
    isWhole: true,
    lost: world.lost.size,
    spooled: countEndings(behind),
  };
  const said = {
    acceptedTotal: world.accepted,
    inFlight: world.open.size,
    endsSpooled: world.kept,
    recordsLost: world.lost.size,
  };
  for (const balance of [balanceLive(said, found), balanceEnded(world.kept + world.lost.size, found)]) {
    const { accepted, spooled, inFlight, lost, difference } = balance;
    expect(difference).toBe(0);
    expect(stored + spooled + inFlight + setAside + lost).toBe(accepted);
  }
}

/** The process is dead, everything is read: the same whether or not the end itself was cut and came again. */
function expectClosed(world: World, calls: string, isCrash: boolean): void {
  const noted = CallTally.from(JSON.parse(calls));
  noted.interrupt(world.openRows);
  const file = JSON.stringify(noted.toData());
  for (const number of world.openRows) world.rows.set(number, 'interrupted');
  if (isCrash) world.openRows.clear();
  const tally = CallTally.from(JSON.parse(file));
  tally.interrupt(world.openRows);
  tally.endInterrupting();
  const losses = {
    calls: world.lost.size,
    entries: [...world.lost].map((number) => ({
      minuteMs: 0,
      accountId: 1,
      keyId: 1,
      provider: 'openai' as const,
      model: null,
      calls: 1,
      usage: {},
      lastOrdinal: number,
    })),
  };
  const closed = settleEnded(tally, losses, world.kept + world.lost.size);
  expect(closed.stored).toBe(world.rows.size);
  expect(closed.setAside).toBe(world.refused.size);
  expect(closed.accepted).toBe(closed.stored + closed.setAside + closed.lost);
  // Calls without a beginning whose process died leave nothing; behind the last number that is known nobody knows them.
  const gone = [...Array(world.accepted).keys()].map((index) => index + 1);
  const vanished = gone.filter((number) => !world.rows.has(number) && !world.refused.has(number));
  expect(closed.lost).toBe(vanished.filter((number) => number <= closed.accepted).length);
  expect(vanished.filter((number) => number > closed.accepted && world.lost.has(number))).toEqual([]);
  expect(Object.values(tally.outcomes).reduce((sum, count) => sum + count, 0)).toBe(closed.stored);
}
