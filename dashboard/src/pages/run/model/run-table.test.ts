import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createRunModel } from './run-model.ts';
import { CALL, FOLD, findCall, findKey, listChildren, nameAt, OPEN, type RunTable, STEP } from './run-table.ts';
import { callId, openCall, type ShortCall, toColumns } from './test-columns.ts';

function build(calls: readonly ShortCall[], isFolded = true): RunTable {
  const model = createRunModel();
  model.addCalls(toColumns(calls));
  return model.build(isFolded);
}

/** The rows as an indented list: `name ×calls`. */
function outline(table: RunTable): readonly string[] {
  return Array.from({ length: table.count }, (_, row) => {
    const mark = table.kind[row] === CALL ? '' : table.kind[row] === OPEN ? ' open' : ` ×${table.calls[row]}`;
    return `${'  '.repeat(table.depth[row] ?? 0)}${nameAt(table, row)}${mark}`;
  });
}

test('steps and calls of one level stand together, by time', () => {
  const table = build([
    { path: 'agent', name: 'first' },
    { path: 'agent/search', name: 'second' },
    { path: 'agent', name: 'third' },
    { path: null, name: 'at the root' },
  ]);
  expect(outline(table)).toEqual([
    ' ×4',
    '  agent ×3',
    '    first',
    '    search ×1',
    '      second',
    '    third',
    '  at the root',
  ]);
});

test('four numbered steps fold into one row that has their sums; three do not', () => {
  const search = (number: number): ShortCall => ({ path: `search%20${number}`, name: 'q', cost: `0.00${number}` });
  expect(outline(build([1, 2, 3].map(search)))).toHaveLength(7);
  const table = build([1, 2, 3, 4].map(search));
  expect(outline(table).slice(0, 3)).toEqual([' ×4', '  search ×4', '    search 1 ×1']);
  expect([table.kind[1], table.totalCost[1], table.calls[1]]).toEqual([FOLD, 10_000_000_000n, 4]);
  expect(table.foldStatistics[table.slot[1] ?? -1]).toMatchObject({
    minCost: 1_000_000_000n,
    medianCost: 2_000_000_000n,
    maxCost: 4_000_000_000n,
  });
});

test('eight calls of one name and model fold, and a call of another model stays beside them', () => {
  const calls: ShortCall[] = Array.from({ length: 8 }, () => ({ path: 'loop', name: 'ask' }));
  const table = build([...calls, { path: 'loop', name: 'ask', model: 'other' }]);
  expect(outline(table).filter((line) => /ask ×|^ {4}ask$/.test(line))).toEqual(['    ask ×8', '    ask']);
});

test('an open call stands in its step, makes the step when there is none, and is in no sum', () => {
  const model = createRunModel();
  model.addCalls(toColumns([{ path: 'agent' }]));
  model.setOpenCalls([openCall(7, 'agent/deeper', 3_000)]);
  const table = model.build(true);
  expect(outline(table)).toEqual([' ×1', '  agent ×1', '    call', '    deeper ×0', '      open 7 open']);
  expect([table.calls[0], table.openCalls[0], table.unpriced[0]]).toEqual([1, 1, 0]);
});

test('a call that has ended is open no more, whatever the list of open calls still says', () => {
  const model = createRunModel();
  model.setOpenCalls([openCall(0, 'agent', 0)]);
  expect(model.build(true).openCalls[0]).toBe(1);
  model.addCalls(toColumns([{ path: 'agent' }]));
  expect([model.build(true).openCalls[0], model.build(true).calls[0]]).toEqual([0, 1]);
});

test('a call without a price counts what is known of it and makes the sums above "at least"', () => {
  const table = build([{ path: 'a', cost: null, knownCost: '0.5' }, { path: 'a' }, { path: 'a', cost: null }]);
  expect([table.totalCost[0], table.unpriced[0]]).toEqual([501_000_000_000n, 2]);
  expect([table.ownUnpriced[0], table.ownUnpriced[1]]).toEqual([0, 2]);
  const hasCost = [...table.hasCost].filter((_, row) => table.kind[row] === CALL);
  expect(hasCost).toEqual([1, 1, 0]);
});

test('amounts that no 64-bit number holds stay exact', () => {
  const table = build([{ cost: '9999999.999999999999' }, { cost: '0.000000000001' }]);
  expect(table.totalCost[0]).toBe(10_000_000_000_000_000_000n);
});

test('names are decoded, and a call or a step is found by its id or key', () => {
  const table = build([{ path: 'caf%C3%A9/x%2Fy', id: callId(5) }]);
  expect(outline(table)).toEqual([' ×1', '  café ×1', '    x/y ×1', '      call']);
  expect([findKey(table, 'caf%C3%A9/x%2Fy'), findKey(table, ''), findCall(table, callId(5))]).toEqual([2, 0, 3]);
  expect([findKey(table, 'nothing'), findCall(table, callId(6))]).toEqual([null, null]);
});

test('on the cost axis a row is as wide as its share, and children lie within their parent', () => {
  const table = build([
    { path: 'a', cost: '0.3' },
    { path: 'a/b', cost: '0.1' },
    { path: 'c', cost: '0.6' },
  ]);
  const range = (row: number) => [table.costBefore[row], table.costBefore[table.end[row] ?? 0]];
  expect(range(0)).toEqual([0, 1]);
  expect(range(findKey(table, 'a') ?? 0)).toEqual([0, 0.4]);
  expect(range(findKey(table, 'a/b') ?? 0)).toEqual([0.3, 0.4]);
  expect(range(findKey(table, 'c') ?? 0)).toEqual([0.4, 1]);
});

const shortCall = fc.record({
  path: fc.option(
    fc
      .array(fc.constantFrom('a', 'b', 'step%201', 'step%202', 'step%203', 'step%204', 'x%2Fy'), { maxLength: 4 })
      .map((names) => names.join('/')),
  ),
  name: fc.constantFrom('ask', 'tell'),
  model: fc.constantFrom('m', null),
  startMs: fc.nat(10_000),
  lengthMs: fc.nat(5_000),
  cost: fc.option(fc.nat(1_000_000).map((micro) => `0.${String(micro).padStart(6, '0')}`)),
  outcome: fc.constantFrom('ok', 'upstream_error', 'client_closed'),
  inputTokens: fc.option(fc.nat(1_000)),
});

test('whatever the calls: every sum is that of the calls beneath, folded or not, and every call is there once', () => {
  fc.assert(
    fc.property(fc.array(shortCall, { maxLength: 40 }), fc.boolean(), (calls, isFolded) => {
      const table = build(calls, isFolded);
      expect([...table.kind].filter((kind) => kind === CALL)).toHaveLength(calls.length);
      for (let row = 0; row < table.count; row += 1) {
        const beneath = Array.from({ length: (table.end[row] ?? 0) - row }, (_, index) => row + index).filter(
          (one) => table.kind[one] === CALL,
        );
        const sum = (read: (one: number) => number) => beneath.reduce((total, one) => total + read(one), 0);
        expect(table.calls[row]).toBe(beneath.length);
        expect(table.totalCost[row]).toBe(beneath.reduce((total, one) => total + (table.totalCost[one] ?? 0n), 0n));
        expect(table.errors[row]).toBe(sum((one) => table.errors[one] ?? 0));
        expect(table.unpriced[row]).toBe(sum((one) => table.unpriced[one] ?? 0));
        if (table.kind[row] !== CALL) expect(table.inputTokens[row]).toBe(sum((one) => table.inputTokens[one] || 0));
        if (beneath.length > 0) {
          expect(table.startMs[row]).toBe(Math.min(...beneath.map((one) => table.startMs[one] ?? 0)));
          expect(table.endMs[row]).toBe(Math.max(...beneath.map((one) => table.endMs[one] ?? 0)));
        }
        const children = listChildren(table, row);
        for (const [index, child] of children.entries()) {
          expect([table.parent[child], table.depth[child]]).toEqual([row, (table.depth[row] ?? 0) + 1]);
          expect([table.setSize[child], table.positionInSet[child]]).toEqual([children.length, index + 1]);
        }
      }
    }),
    { numRuns: 150 },
  );
});

test('whatever the order and however often calls come, the table is the same', () => {
  fc.assert(
    fc.property(fc.array(shortCall, { maxLength: 15 }), fc.nat(), (calls, seed) => {
      const withIds = calls.map((call, index) => ({ ...call, id: callId(index) }));
      const shuffled = [...withIds, ...withIds].sort(
        (a, b) => Math.sin(seed + Number(a.id.slice(-6))) - Math.sin(seed + Number(b.id.slice(-6))),
      );
      expect(build(shuffled)).toEqual(build(withIds));
    }),
    { numRuns: 60 },
  );
});

test('a step that has only its own calls is a step, whatever it is called', () => {
  expect(build([{ path: '__proto__' }]).kind[1]).toBe(STEP);
});
