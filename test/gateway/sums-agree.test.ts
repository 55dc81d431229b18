/** The sums that the pages show for one filter: Logs, Runs, Run and Costs say the same as plain SQL, to the last digit. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createPriceBook } from '../../src/pricing/price-book.ts';
import type { SpoolEntry } from '../../src/vocabulary/call-record.ts';
import { formatUsd, parseUsd } from '../../src/vocabulary/usd.ts';
import { type CallStore, callIdAt, openCallStore } from '../browser/store-calls.ts';
import { createSeededRandom } from '../proxy/seeded-random.ts';
import { callBegin, callEnd } from '../support/call-fixtures.ts';
import { POSTGRES_KINDS, startPostgres, type TestPostgres } from '../support/postgres.ts';
import { readAdminFile, startGateway, type TestGateway } from './start-gateway.ts';

const CALLS = 900;
const SPAN_MS = 3 * 86_400_000;
const START_MS = Math.floor(Date.now() / 1_000) * 1_000 - SPAN_MS - 3_600_000;
/** Not on the hour, so that the edges of hourly sums are tried too. */
const FROM = new Date(START_MS + 1_234_567).toISOString();
const TO = new Date(START_MS + SPAN_MS - 7_654_321).toISOString();
const WINDOW = `from=${FROM}&to=${TO}`;

const Sums = z.object({ calls: z.number(), errors: z.number(), unpriced_calls: z.number(), total_cost: z.string() });
const SUM_COLUMNS = `count(*)::int as calls,
  (count(*) filter (where outcome not in ('ok', 'client_closed')))::int as errors,
  (count(*) filter (where total_cost is null))::int as unpriced_calls,
  trim_scale(coalesce(sum(coalesce(total_cost, known_cost)), 0))::text as total_cost`;

let postgres: TestPostgres;
let databaseUrl = '';
let store: CallStore;
let gateway: TestGateway;

function makeCalls(): readonly SpoolEntry[] {
  const random = createSeededRandom(7);
  const pick = <T>(values: readonly T[]): T | undefined => values[Math.floor(random() * values.length)];
  return Array.from({ length: CALLS }, (_, number) => {
    const requestedAtMs = START_MS + Math.floor(random() * SPAN_MS);
    const id = callIdAt(requestedAtMs, number);
    const trace = pick([null, 'run-a', 'run-b', `run-${Math.floor(random() * 40)}`]) ?? null;
    const feature = pick([['Feature', 'search'], ['feature', 'search'], ['Feature', 'chat'], null]) ?? null;
    const provider = pick(['openai', 'anthropic', 'gemini'] as const) ?? 'openai';
    const begin = callBegin(number, {
      id,
      requestedAtMs,
      provider,
      traceId: trace,
      spanPath: trace === null ? null : (pick(['agent/plan', 'agent/search/1', 'agent/search/2', 'write']) ?? null),
      metadata: feature === null ? [] : [[feature[0] ?? '', feature[1] ?? '']],
    });
    const isFailed = random() < 0.1;
    const end = callEnd(number, {
      id,
      model: pick(['gpt-5', 'claude-x', 'gemini-y']) ?? null,
      outcome: isFailed ? 'upstream_error' : 'ok',
      status: isFailed ? 500 : 200,
      respondedAtMs: requestedAtMs + 900,
      usage: isFailed
        ? null
        : {
            classes: { input: Math.floor(random() * 90_000), output: Math.floor(random() * 900) },
            reasoning: null,
            native: {},
          },
      usageSource: isFailed ? 'none' : random() < 0.1 ? 'partial' : 'provider',
    });
    return { type: 'end', begin, end };
  });
}

beforeAll(async () => {
  const [kind] = POSTGRES_KINDS;
  if (kind === undefined) throw new Error('no PostgreSQL');
  postgres = await startPostgres(kind);
  const url = await postgres.createDatabase('sums');
  databaseUrl = url;
  store = await openCallStore(url);
  await store.store(makeCalls());
  gateway = await startGateway({ env: { DATABASE_URL: url } });
});

afterAll(async () => {
  await gateway?.stop();
  await store?.close();
  await postgres?.remove();
});

async function sqlSums(condition: string): Promise<z.infer<typeof Sums>> {
  const { rows } = await store.pool.query(`select ${SUM_COLUMNS} from llm_requests where ${condition}`);
  return Sums.parse(rows[0]);
}

const inWindow = `requested_at >= '${FROM}' and requested_at < '${TO}'`;
const feature = `metadata_value(raw_metadata, 'feature')`;

const FILTERS = [
  { name: 'no filter', query: '', sql: 'true' },
  { name: 'a provider', query: '&f=provider:eq:openai', sql: "provider = 'openai'" },
  { name: 'a model and errors', query: '&f=model:eq:gpt-5&f=status:eq:500', sql: "model = 'gpt-5' and status = 500" },
  { name: 'a metadata value in two spellings', query: '&f=metadata.Feature:eq:search', sql: `${feature} = 'search'` },
  { name: 'a metadata key that is not set', query: '&f=metadata.Feature:nohas', sql: `${feature} is null` },
  { name: 'calls without a price', query: '&f=total_cost:nohas', sql: 'total_cost is null' },
];

/** Before and after the key is promoted: the answers may not differ. */
describeTwice('while the key is raw', 'after it was promoted');

function describeTwice(before: string, after: string): void {
  for (const when of [before, after]) {
    if (when === after)
      test('the key Feature is promoted', async () => {
        await gateway.api('/api/v1/metadata-keys/Feature/promote', { method: 'POST', body: '{}' });
        await expect
          .poll(async () => JSON.stringify(await gateway.api('/api/v1/metadata-keys')), { timeout: 30_000 })
          .toContain('"state":"promoted"');
      });

    test.each(FILTERS)(`Logs and Costs agree with SQL, ${when}: $name`, async ({ query, sql }) => {
      const wanted = await sqlSums(`${inWindow} and ${sql}`);
      expect(Sums.parse(await gateway.api(`/api/v1/logs/summary?${WINDOW}${query}`))).toEqual(wanted);
      for (const by of [
        'model',
        'provider',
        'key',
        'endpoint',
        'outcome',
        'span_path',
        'span_name',
        'trace_id',
        'client',
        'metadata.Feature',
        'provider,metadata.Feature',
        'span_path,trace_id',
      ]) {
        const answer = z
          .object({ totals: Sums, data: z.array(Sums), rest: Sums.nullable() })
          .parse(await gateway.api(`/api/v1/costs?${WINDOW}&group_by=${by}&interval=day${query}`));
        expect({ by, totals: answer.totals }).toEqual({ by, totals: wanted });
        const parts = [...answer.data, ...(answer.rest === null ? [] : [answer.rest])];
        expect(parts.reduce((sum, part) => sum + part.calls, 0)).toBe(wanted.calls);
        const { rows } = await store.pool.query<{ sum: string }>(
          'select trim_scale(coalesce(sum(cost::numeric), 0))::text as sum from unnest($1::text[]) as cost',
          [parts.map((part) => part.total_cost)],
        );
        expect({ by, sum: rows[0]?.sum }).toEqual({ by, sum: wanted.total_cost });
      }
    });
  }
}

test('every run of the list, its own page, and its calls say the same as SQL', async () => {
  const { data } = z
    .object({ data: z.array(Sums.extend({ trace_id: z.string() })) })
    .parse(await gateway.api('/api/v1/runs?limit=500'));
  expect(data.length).toBeGreaterThan(20);
  for (const { trace_id, ...listed } of data) {
    const wanted = await sqlSums(`trace_id = '${trace_id}'`);
    expect({ trace_id, ...listed }).toEqual({ trace_id, ...wanted });
    const query = `trace_id=${encodeURIComponent(trace_id)}`;
    const run = Sums.extend({ steps: z.array(Sums.extend({ names: z.array(z.string()) })) }).parse(
      await gateway.api(`/api/v1/run?${query}`),
    );
    expect(Sums.parse(run)).toEqual(wanted);
    for (const step of run.steps.filter(({ names }) => names.length <= 1)) {
      const [name] = step.names;
      const beneath =
        name === undefined ? 'span_key is null' : `(span_key = '${name}' or starts_with(span_key, '${name}/'))`;
      expect(Sums.parse(step)).toEqual(await sqlSums(`trace_id = '${trace_id}' and ${beneath}`));
    }
  }
});

test('the sums above the list of runs are those of the runs in it', async () => {
  const summary = z
    .object({ runs: z.number(), calls: z.number(), total_cost: z.string() })
    .parse(
      await gateway.api(`/api/v1/runs/summary?from=${new Date(START_MS).toISOString()}&to=${new Date().toISOString()}`),
    );
  const wanted = await sqlSums('trace_id is not null');
  expect(summary).toMatchObject({ calls: wanted.calls, total_cost: wanted.total_cost });
});

/**
 * A day before all others: 3,000 calls of 1,000,000 tokens each, one that read 4,294,967,296 tokens from the cache, and
 * one that cost less than a hundred-millionth of a dollar. Worked out by hand from the prices of a million tokens:
 * 3,000 × (700,001 × $0.05 + 199,999 × $0.005 + 100,000 × $0.4) + (4,294,967,296 × $0.005 + 1 × $0.4) + 1 × $0.00875.
 */
describe('a day of large sums', () => {
  const MANY = 3_000;
  const DAY_MS = Math.floor((START_MS - 10 * 86_400_000) / 86_400_000) * 86_400_000;
  const DAY = `from=${new Date(DAY_MS).toISOString()}&to=${new Date(DAY_MS + 86_400_000).toISOString()}`;
  const TRACE = 'large/sums';
  const ONE = '0.076000045';
  const LARGE = '21.47483688';
  const SMALL = '0.00000000875';
  const SUMS = {
    calls: MANY + 2,
    errors: 0,
    unpriced_calls: 0,
    total_cost: '249.47497188875',
    input_tokens: 2_100_003_000,
    cache_read_input_tokens: 4_894_964_297,
    cache_creation_input_tokens: 0,
    output_tokens: 300_000_001,
  };
  const run = promisify(execFile);
  const Any = z.record(z.string(), z.json());
  const List = z.object({ data: z.array(Any) });

  interface Used {
    readonly model: string;
    readonly classes: { readonly input?: number; readonly cache_read?: number; readonly output?: number };
  }

  function makeCall(number: number, { model, classes }: Used): SpoolEntry {
    const requestedAtMs = DAY_MS + number * 28_000;
    const id = callIdAt(requestedAtMs, number);
    const provider = model.startsWith('amazon') ? 'bedrock' : 'openai';
    const steps = { traceId: TRACE, spanPath: 'agent/step', modelRequested: model, provider } as const;
    const usage = { classes, reasoning: null, native: {} };
    return {
      type: 'end',
      begin: callBegin(number, { id, requestedAtMs, ...steps }),
      end: callEnd(number, { id, respondedAtMs: requestedAtMs + 900, model, modelRequested: model, usage }),
    };
  }

  /** As a user has it. */
  async function cli(...args: readonly string[]): Promise<string> {
    const main = join(import.meta.dirname, '..', '..', 'src', 'main.ts');
    const { stdout } = await run(process.execPath, [main, ...args, '--data-dir', gateway.dataDir], {
      maxBuffer: 32 * 1024 * 1024,
    });
    return stdout;
  }

  async function exported(query: string): Promise<string> {
    const { token } = readAdminFile(gateway.dataDir);
    const answer = await fetch(`${gateway.adminBase}/api/v1/export?${query}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(answer.status).toBe(200);
    return answer.text();
  }

  function pick(from: Readonly<Record<string, unknown>>): Record<string, unknown> {
    return Object.fromEntries(Object.keys(SUMS).map((name) => [name, from[name]]));
  }

  /** Exact, whatever the number of decimals. */
  function addUp(costs: readonly string[]): string {
    for (const cost of costs) expect(cost).toMatch(/^\d+(\.\d+)?$/);
    return formatUsd(costs.reduce((sum, cost) => sum + parseUsd(cost), 0n));
  }

  beforeAll(async () => {
    const priced = await openCallStore(databaseUrl, createPriceBook().priceCall);
    const classes = { input: 700_001, cache_read: 199_999, output: 100_000 };
    const many = Array.from({ length: MANY }, (_, number) => makeCall(number, { model: 'gpt-5-nano', classes }));
    await priced.store([
      ...many,
      makeCall(MANY, { model: 'gpt-5-nano', classes: { cache_read: 4_294_967_296, output: 1 } }),
      makeCall(MANY + 1, { model: 'amazon.nova-micro-v1:0', classes: { cache_read: 1 } }),
    ]);
    await priced.close();
  });

  test('the API adds it up exactly, in costs, logs and the run', async () => {
    const costs = z
      .object({ totals: Any, data: z.array(Any) })
      .parse(await gateway.api(`/api/v1/costs?${DAY}&group_by=provider&interval=day`));
    expect(pick(costs.totals)).toEqual(SUMS);
    expect(costs.data.map((group) => [group['group'], group['calls'], group['total_cost']])).toEqual([
      [['openai'], MANY + 1, '249.47497188'],
      [['bedrock'], 1, SMALL],
    ]);
    const { total_cost, calls } = SUMS;
    expect(await gateway.api(`/api/v1/logs/summary?${DAY}`)).toMatchObject({ total_cost, calls });
    const { data: runs } = List.parse(await gateway.api(`/api/v1/runs?${DAY}`));
    expect(runs.map(pick)).toEqual([SUMS]);
    const whole = Any.parse(await gateway.api(`/api/v1/run?trace_id=${encodeURIComponent(TRACE)}`));
    expect(pick(whole)).toEqual(SUMS);
    const { data: steps } = z.object({ data: z.array(Any) }).parse({ data: whole['steps'] });
    expect(steps.map(({ names, ...sums }) => [names, pick(sums)])).toContainEqual([['agent', 'step'], SUMS]);
  });

  test('the records themselves have no exponent and no rounded digit', async () => {
    const { data } = List.parse(await gateway.api(`/api/v1/logs?${DAY}&limit=3`));
    expect(data.map((record) => [record['total_cost'], record['cache_read_input_tokens']])).toEqual([
      [SMALL, 1],
      [LARGE, 4_294_967_296],
      [ONE, 199_999],
    ]);
    const lines = await Promise.all(data.map(async ({ id }) => Any.parse(await gateway.api(`/api/v1/logs/${id}`))));
    expect(JSON.stringify(lines.map((record) => record['cost_lines']))).not.toMatch(/\de[-+]?\d/i);
  });

  test.each(['csv', 'ndjson'])('the export as %s has every digit', async (format) => {
    const columns = 'total_cost,known_cost,input_tokens,cache_read_input_tokens,output_tokens';
    const text = await exported(`kind=logs&format=${format}&${DAY}&columns=${columns}`);
    expect(text).not.toMatch(/\de[-+]?\d/i);
    const rows =
      format === 'csv'
        ? text
            .trimEnd()
            .split(/\r?\n/)
            .slice(1)
            .map((line) => line.split(','))
        : text
            .trimEnd()
            .split('\n')
            .map((line) => Any.parse(JSON.parse(line)))
            .map((row) => columns.split(',').map((name) => String(row[name] ?? '')));
    expect(rows).toHaveLength(SUMS.calls);
    const column = (index: number) => rows.map((row) => row[index] ?? '');
    expect(addUp(column(0))).toBe(SUMS.total_cost);
    expect(addUp(column(1))).toBe(SUMS.total_cost);
    for (const [index, name] of [
      [2, 'input_tokens'],
      [3, 'cache_read_input_tokens'],
      [4, 'output_tokens'],
    ] as const)
      expect(column(index).reduce((sum, cell) => sum + BigInt(cell === '' ? '0' : cell), 0n)).toBe(BigInt(SUMS[name]));
  });

  test('the command line says the same, for programs and for people', async () => {
    const from = ['--from', new Date(DAY_MS).toISOString(), '--to', new Date(DAY_MS + 86_400_000).toISOString()];
    const [costs = '', runs = '', logs = '', ...shown] = await Promise.all([
      cli('costs', ...from, '--json'),
      cli('runs', ...from, '--json'),
      cli('logs', ...from, '--limit', '2', '--json'),
      cli('costs', ...from),
      cli('runs', ...from),
      cli('logs', ...from, '--limit', '3'),
    ]);
    const parse = (lines: string) =>
      lines
        .trimEnd()
        .split('\n')
        .map((line) => Any.parse(JSON.parse(line)));
    expect(parse(costs).map(({ totals }) => pick(Any.parse(totals)))).toEqual([SUMS]);
    expect(parse(runs).map(pick)).toEqual([SUMS]);
    expect(parse(logs).map((record) => record['total_cost'])).toEqual([SMALL, LARGE]);
    expect(shown.join('')).not.toMatch(/\de[-+]?\d/i);
    expect(shown[0]).toContain('$249.47');
    expect(shown[1]).toContain('$249.47');
    expect(shown[2]).toContain('$0.00000000875');
    expect(shown[2]).toContain('4.3G');
  });
});
