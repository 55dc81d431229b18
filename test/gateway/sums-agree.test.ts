/** The sums that the pages show for one filter: Logs, Runs, Run and Costs say the same as plain SQL, to the last digit. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import type { SpoolEntry } from '../../src/call-record.ts';
import { type CallStore, callIdAt, openCallStore } from '../browser/store-calls.ts';
import { callBegin, callEnd } from '../call-fixtures.ts';
import { POSTGRES_KINDS, startPostgres, type TestPostgres } from '../postgres.ts';
import { createSeededRandom } from '../proxy/seeded-random.ts';
import { startGateway, type TestGateway } from './start-gateway.ts';

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
      for (const by of ['model', 'provider', 'key', 'metadata.Feature', 'provider,metadata.Feature']) {
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
    for (const step of run.steps.filter(({ names }) => names.length === 1)) {
      const [name] = step.names;
      expect(Sums.parse(step)).toEqual(
        await sqlSums(`trace_id = '${trace_id}' and (span_key = '${name}' or starts_with(span_key, '${name}/'))`),
      );
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
