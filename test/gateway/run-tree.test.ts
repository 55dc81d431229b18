/** The tree of a run, its steps by SQL and its roll-up say the same, for any calls in any order, replayed or not. */
import fc from 'fast-check';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { toRunCall } from '../../src/control/log/leaf-record.ts';
import { listRunCalls } from '../../src/control/log/list-run-calls.ts';
import { readRun } from '../../src/control/log/read-run.ts';
import { buildRunTree, type RunNode } from '../../src/control/log/run-tree.ts';
import { decodeSpanKey } from '../../src/control/log/span-path.ts';
import { buildBatch } from '../../src/control/shipper/build-batch.ts';
import { type IngestSession, openIngestSession } from '../../src/control/shipper/ingest-session.ts';
import type { SpoolEntry } from '../../src/vocabulary/call-record.ts';
import { formatUsd, parseUsd } from '../../src/vocabulary/usd.ts';
import { callBegin, callEnd, callId, NOON_MS, priceByToken } from '../support/call-fixtures.ts';
import { openTestPool } from '../support/open-migrated.ts';
import { POSTGRES_KINDS, startPostgres, type TestPostgres } from '../support/postgres.ts';

/** Parents first, in display order. */
function* walkRunTree(node: RunNode): Generator<RunNode> {
  yield node;
  for (const child of node.children) yield* walkRunTree(child);
}

interface MadeCall {
  readonly spanPath: string | null;
  readonly startMs: number;
  readonly durationMs: number;
  /** Null: the provider did not report usage. */
  readonly tokens: number | null;
  readonly isPartial: boolean;
  readonly isError: boolean;
}

const NAMES = ['plan', 'search 1', 'a/b', '100%', 'ü', '', '.', '..', '__proto__', "it's", '😀', 'Plan'];
const spanPath = fc.oneof(
  fc.constant(null),
  fc.array(fc.constantFrom(...NAMES), { maxLength: 4 }).map((names) => names.map(encodeURIComponent).join('/')),
  fc.constantFrom('', '/', '//a//b/', 'a%zz/b', '%2F', 'a%2fb', '%', '%C3', 'a/b/c/d/e/f/g', 'plan/'),
);
const madeCall: fc.Arbitrary<MadeCall> = fc.record({
  spanPath,
  startMs: fc.integer({ min: 0, max: 5_000 }),
  durationMs: fc.integer({ min: 0, max: 9_000 }),
  tokens: fc.oneof(fc.constant(null), fc.integer({ min: 0, max: 1_000_003 })),
  isPartial: fc.boolean(),
  isError: fc.boolean(),
});

let calls = 0;
function entryOf(call: MadeCall, traceId: string): SpoolEntry {
  calls += 1;
  const { spanPath: path, startMs, durationMs, tokens } = call;
  const requestedAtMs = NOON_MS + startMs;
  return {
    type: 'end',
    begin: callBegin(calls, { traceId, spanPath: path, requestedAtMs }),
    end: callEnd(calls, {
      id: callId(calls),
      outcome: call.isError ? 'upstream_truncated' : 'ok',
      usage: tokens === null ? null : { classes: { input: tokens, output: 7 }, reasoning: null, native: {} },
      usageSource: tokens === null ? 'none' : call.isPartial ? 'partial' : 'provider',
      respondedAtMs: requestedAtMs + durationMs,
      durationMs,
    }),
  };
}

function toStep(node: RunNode): Record<string, unknown> {
  return {
    span_key: node.spanKey,
    names: [...node.names],
    calls: node.calls,
    own_calls: node.leaves.length,
    errors: node.errors,
    total_cost: formatUsd(node.totalCost),
    own_cost: formatUsd(node.ownCost),
    unpriced_calls: node.unpricedCalls,
    input_tokens: node.tokens.inputTokens,
    cache_read_input_tokens: node.tokens.cacheReadInputTokens,
    cache_creation_input_tokens: node.tokens.cacheCreationInputTokens,
    output_tokens: node.tokens.outputTokens,
    reasoning_tokens: node.tokens.reasoningTokens,
    started_at: new Date(node.startedAtMs ?? 0).toISOString(),
    ended_at: new Date(node.endedAtMs ?? 0).toISOString(),
  };
}

const AnyStep = z.looseObject({
  names: z.array(z.string()),
  calls: z.number(),
  own_calls: z.number(),
  errors: z.number(),
  unpriced_calls: z.number(),
  input_tokens: z.number(),
  output_tokens: z.number(),
  total_cost: z.string(),
  own_cost: z.string(),
});

function bySpanKey(a: Record<string, unknown>, b: Record<string, unknown>): number {
  return String(a['span_key']) < String(b['span_key']) ? -1 : 1;
}

describe.each(POSTGRES_KINDS)('runs on $name', (kind) => {
  let server: TestPostgres;
  let pool: pg.Pool;
  let session: IngestSession;
  let runs = 0;

  beforeAll(async () => {
    server = await startPostgres(kind);
    pool = openTestPool(await server.createDatabase('runs'));
    session = await openIngestSession(pool);
  });
  afterAll(async () => {
    session.close();
    await pool.end();
    await server.remove();
  });

  async function ingest(entries: readonly SpoolEntry[]): Promise<void> {
    const context = { process: 'test', priceCall: priceByToken, nowMs: NOON_MS };
    await session.ingest(buildBatch(entries, context).items);
  }

  async function readTree(traceId: string): Promise<RunNode> {
    const page = await listRunCalls(pool, 1, traceId, null, 20_000);
    return buildRunTree(page.records.map(toRunCall));
  }

  /** What the API answers must be what the tree of the leaves says, to the last digit. */
  async function expectAgreement(traceId: string): Promise<RunNode> {
    const root = await readTree(traceId);
    const answer = await readRun(pool, 1, traceId);
    const { steps, ...run } = { steps: [], ...answer };
    const { span_key: _key, names: _names, own_calls: _calls, own_cost: _cost, ...sums } = toStep(root);
    expect(run).toMatchObject({ ...sums, trace_id: traceId, steps_cut: false });
    const nodes = [...walkRunTree(root)].slice(1).map(toStep);
    const parsed = z.array(AnyStep).parse(steps);
    expect(parsed.filter(({ names }) => names.length > 0).sort(bySpanKey)).toEqual(nodes.sort(bySpanKey));
    const loose = parsed.filter(({ names }) => names.length === 0);
    expect(loose.map((step) => [step.calls, step.own_calls, step.total_cost, step.own_cost])).toEqual(
      root.leaves.length === 0
        ? []
        : [[root.leaves.length, root.leaves.length, formatUsd(root.ownCost), formatUsd(root.ownCost)]],
    );
    const outermost = parsed.filter(({ names }) => names.length <= 1);
    expect(formatUsd(outermost.reduce((sum, step) => sum + parseUsd(step.total_cost), 0n))).toBe(sums['total_cost']);
    expect(formatUsd(parsed.reduce((sum, step) => sum + parseUsd(step.own_cost), 0n))).toBe(sums['total_cost']);
    for (const column of ['calls', 'errors', 'unpriced_calls', 'input_tokens', 'output_tokens'] as const)
      expect(outermost.reduce((sum, step) => sum + step[column], 0)).toBe(sums[column]);
    return root;
  }

  async function runOf(made: readonly MadeCall[]): Promise<{ readonly traceId: string; readonly root: RunNode }> {
    runs += 1;
    const traceId = `run ${runs}`;
    await ingest(made.map((call) => entryOf(call, traceId)));
    return { traceId, root: await expectAgreement(traceId) };
  }

  function call(path: string | null, startMs: number, overrides: Partial<MadeCall> = {}): MadeCall {
    return { spanPath: path, startMs, durationMs: 10, tokens: 10, isPartial: false, isError: false, ...overrides };
  }

  test('for any paths, orders, batches and replays the tree, the steps and the roll-up agree', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(madeCall, { minLength: 1, maxLength: 30 }),
        fc.infiniteStream(fc.integer({ min: 0, max: 1_000 })),
        fc.integer({ min: 1, max: 7 }),
        async (made, order, batchSize) => {
          runs += 1;
          const traceId = `run ${runs}`;
          const entries = made.map((one) => entryOf(one, traceId));
          const places = new Map(entries.map((entry) => [entry, order.next().value ?? 0]));
          const shuffled = entries.toSorted((a, b) => (places.get(a) ?? 0) - (places.get(b) ?? 0));
          for (let at = 0; at < shuffled.length; at += batchSize) await ingest(shuffled.slice(at, at + batchSize));
          // Some arrive again, as after a crash between commit and cursor.
          await ingest(shuffled.slice(0, batchSize));
          const root = await expectAgreement(traceId);
          expect(root.calls).toBe(made.length);
        },
      ),
      { numRuns: 60 },
    );
  });

  test('repeated visits to a path are one node, and its calls are leaves in time order', async () => {
    const { root } = await runOf([call('plan', 30), call('plan', 10), call('plan/', 20), call('plan/tool', 15)]);
    const [plan] = root.children;
    expect(root.children).toHaveLength(1);
    expect(plan).toMatchObject({ names: ['plan'], calls: 4 });
    expect(plan?.leaves.map((leaf) => leaf.requestedAtMs - NOON_MS)).toEqual([10, 20, 30]);
    expect(plan?.children.map((node) => node.names)).toEqual([['plan', 'tool']]);
  });

  test('an encoded slash is a part of the name, an empty segment is nothing, a malformed escape is literal', async () => {
    const { root } = await runOf([
      call('a%2Fb', 1),
      call('a%2fb', 2),
      call('//x//y/', 3),
      call('50%zz', 4),
      call('', 5),
      call(null, 6),
    ]);
    expect(root.children.map((node) => node.names)).toEqual([['a/b'], ['x'], ['50%zz']]);
    expect(root.leaves).toHaveLength(2);
    expect(root.children[0]?.calls).toBe(2);
  });

  test('parallel steps keep their own spans, and the root spans them all', async () => {
    const { root } = await runOf([
      call('p/a', 0, { durationMs: 500 }),
      call('p/b', 100, { durationMs: 900 }),
      call('p', 2_000),
    ]);
    expect([root.startedAtMs, root.endedAtMs]).toEqual([NOON_MS, NOON_MS + 2_010]);
    expect(root.children[0]?.children.map((node) => [node.startedAtMs, node.endedAtMs])).toEqual([
      [NOON_MS, NOON_MS + 500],
      [NOON_MS + 100, NOON_MS + 1_000],
    ]);
  });

  test('with unpriced calls beneath, a sum says of how many calls the total is not known', async () => {
    const { root } = await runOf([
      call('s', 1, { tokens: 1 }),
      call('s', 2, { tokens: null }),
      call('s/t', 3, { tokens: 3, isPartial: true }),
    ]);
    // 1 + 70 millionths, nothing, and the 3 + 70 that are known of the third.
    expect(root.children[0]).toMatchObject({ unpricedCalls: 2, totalCost: 144_000_000n, ownCost: 71_000_000n });
  });

  test('two hundred steps below each other are a tree, and deeper ones stay in the run', async () => {
    const path = Array.from({ length: 250 }, (_, index) => `s${index}`).join('/');
    const { root } = await runOf([call(path, 1), call('s0', 2)]);
    const nodes = [...walkRunTree(root)];
    expect(nodes).toHaveLength(201);
    expect(nodes.at(-1)?.names).toHaveLength(200);
    expect(root.calls).toBe(2);
  });

  test('the leaves of a page and the next are all leaves, in order', async () => {
    const { traceId } = await runOf(Array.from({ length: 25 }, (_, index) => call('s', index % 3)));
    const seen: unknown[] = [];
    let after = null;
    do {
      const page = await listRunCalls(pool, 1, traceId, after, 4);
      seen.push(...page.records.map((record) => record['id']));
      after = page.next;
    } while (after !== null);
    expect(new Set(seen).size).toBe(25);
    expect(seen).toHaveLength(25);
    expect(decodeSpanKey('s')).toEqual(['s']);
  });
});
