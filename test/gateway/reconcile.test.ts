/**
 * `tollgate reconcile` against a whole gateway: a report file of each provider, written from its documented shape, beside
 * calls that came through the spool's records and the real price book, and one that came through the proxy today.
 */
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildBatch } from '../../src/control/shipper/build-batch.ts';
import { openIngestSession } from '../../src/control/shipper/ingest-session.ts';
import { createPriceBook } from '../../src/pricing/price-book.ts';
import type { CallBegin, CallEnd, SpoolEntry } from '../../src/vocabulary/call-record.ts';
import type { ClassQuantities } from '../../src/vocabulary/token-usage.ts';
import { callIdAt } from '../browser/store-calls.ts';
import { callBegin, callEnd } from '../support/call-fixtures.ts';
import { type ScriptedProvider, startScriptedProvider } from '../support/fake-provider.ts';
import { openMigrated } from '../support/open-migrated.ts';
import { POSTGRES_KINDS, startPostgres, type TestPostgres } from '../support/postgres.ts';
import { buildAnswer } from '../support/scripted-answer.ts';
import { startGateway, type TestGateway } from './start-gateway.ts';

const MAIN = join(import.meta.dirname, '..', '..', 'src', 'main.ts');
const DAY_MS = 86_400_000;
const TODAY_MS = Math.floor(Date.now() / DAY_MS) * DAY_MS;
/** Two days that are over, and the one that is not. */
const [FIRST_MS, SECOND_MS] = [TODAY_MS - 2 * DAY_MS, TODAY_MS - DAY_MS];
const ADMIN_KEY = 'sk-ant-admin01-DEMO0000000000000000';

const SONNET = 'claude-sonnet-4-5-20250929';
const HAIKU = 'claude-haiku-4-5-20251001';
const MINI = 'gpt-4o-mini-2024-07-18';
const FULL = 'gpt-4o-2024-08-06';

interface MadeCall {
  readonly provider: 'openai' | 'anthropic';
  readonly dayMs: number;
  readonly requested: string;
  /** Null: the client left before the answer named a model or any usage. */
  readonly served: string | null;
  readonly classes: ClassQuantities | null;
}

const CALLS: readonly MadeCall[] = [
  ...[1, 2].map(() => made('openai', FIRST_MS, MINI, { input: 1_000_000, output: 100_000 })),
  made('openai', FIRST_MS, FULL, { input: 2_000, output: 500 }),
  { provider: 'openai', dayMs: FIRST_MS, requested: 'gpt-4o', served: null, classes: null },
  made('openai', SECOND_MS, MINI, { input: 1_000_000, output: 100_000 }),
  made('anthropic', FIRST_MS, SONNET, {
    input: 1_500,
    cache_read: 200,
    cache_creation_5m: 500,
    cache_creation_1h: 1_000,
    output: 500,
  }),
  made('anthropic', SECOND_MS, HAIKU, { input: 1_000, output: 100, web_search_requests: 2 }),
];

function made(provider: MadeCall['provider'], dayMs: number, model: string, classes: ClassQuantities): MadeCall {
  return { provider, dayMs, requested: model, served: model, classes };
}

function entryOf({ provider, dayMs, requested, served, classes }: MadeCall, index: number): SpoolEntry {
  const requestedAtMs = dayMs + DAY_MS / 2 + index;
  const id = callIdAt(requestedAtMs, index);
  const begin: Partial<CallBegin> = { id, requestedAtMs, provider, modelRequested: requested, metadata: [] };
  const end: Partial<CallEnd> = {
    id,
    modelRequested: requested,
    model: served,
    serviceTier: null,
    respondedAtMs: requestedAtMs + 900,
    ...(classes === null
      ? { usage: null, usageSource: 'none', outcome: 'client_closed' }
      : { usage: { classes, reasoning: null, native: {} } }),
  };
  const endpoint = provider === 'anthropic' ? 'messages' : 'chat.completions';
  return { type: 'end', begin: callBegin(index, { ...begin, endpoint }), end: callEnd(index, end) };
}

async function storeCalls(connectionString: string): Promise<void> {
  const pool = await openMigrated(connectionString);
  const session = await openIngestSession(pool);
  const { priceCall } = createPriceBook();
  await session.ingest(buildBatch(CALLS.map(entryOf), { process: 'test', priceCall, nowMs: Date.now() }).items);
  session.close();
  await pool.end();
}

/** `GET /v1/organization/costs?group_by=line_item`. */
function openAiCosts(days: readonly (readonly [dayMs: number, items: Readonly<Record<string, number | string>>])[]) {
  return {
    object: 'page',
    data: days.map(([dayMs, items]) => ({
      object: 'bucket',
      start_time: dayMs / 1_000,
      end_time: (dayMs + DAY_MS) / 1_000,
      results: Object.entries(items).map(([line_item, value]) => ({
        object: 'organization.costs.result',
        amount: { value, currency: 'usd' },
        line_item,
        project_id: null,
      })),
    })),
    has_more: false,
    next_page: null,
  };
}

/** `GET /v1/organization/usage/completions?group_by=model`. */
function openAiUsage(dayMs: number, results: readonly object[]) {
  const bucket = { object: 'bucket', start_time: dayMs / 1_000, end_time: (dayMs + DAY_MS) / 1_000 };
  const object = 'organization.usage.completions.result';
  return { object: 'page', data: [{ ...bucket, results: results.map((result) => ({ object, ...result })) }] };
}

/** `GET /v1/organizations/cost_report?group_by[]=description`; amounts are cents. */
function anthropicCosts(
  days: readonly (readonly [dayMs: number, results: readonly (readonly [string | null, string, string])[]])[],
) {
  return {
    data: days.map(([dayMs, results]) => ({
      starting_at: new Date(dayMs).toISOString(),
      ending_at: new Date(dayMs + DAY_MS).toISOString(),
      results: results.map(([model, description, amount]) => ({
        amount,
        currency: 'USD',
        cost_type: model === null ? 'web_search' : 'tokens',
        description,
        model,
      })),
    })),
    has_more: false,
    next_page: null,
  };
}

const OPENAI_COSTS = openAiCosts([
  [
    FIRST_MS,
    {
      [`${MINI}, input`]: '0.300000000000000000000000000000',
      [`${MINI}, cached input`]: '0E-6176',
      [`${MINI}, output`]: 0.12,
      // With what the cut stream used: 2,000 tokens of input and 250 of output.
      [`${FULL}, input`]: 0.01,
      [`${FULL}, output`]: 0.0075,
    },
  ],
  // Twice what the log has: one call went to the provider directly.
  [SECOND_MS, { [`${MINI}, input`]: 0.3, [`${MINI}, output`]: 0.12 }],
  [TODAY_MS, { [`${MINI}, input`]: 0.00006 }],
]);
const OPENAI_USAGE = openAiUsage(SECOND_MS, [
  { model: MINI, input_tokens: 2_000_000, input_cached_tokens: 0, output_tokens: 200_000, num_model_requests: 2 },
]);
const ANTHROPIC_COSTS = anthropicCosts([
  [
    FIRST_MS,
    [
      [SONNET, 'Claude Sonnet 4.5 Usage - Input Tokens', '0.45'],
      [SONNET, 'Claude Sonnet 4.5 Usage - Cache Read', '0.006'],
      [SONNET, 'Claude Sonnet 4.5 Usage - 5m Cache Write', '0.1875'],
      [SONNET, 'Claude Sonnet 4.5 Usage - 1h Cache Write', '0.6'],
      [SONNET, 'Claude Sonnet 4.5 Usage - Output Tokens', '0.75'],
      // A stream that never was logged.
      [HAIKU, 'Claude Haiku 4.5 Usage - Output Tokens', '1.05'],
    ],
  ],
  [
    SECOND_MS,
    [
      [HAIKU, 'Claude Haiku 4.5 Usage - Input Tokens', '0.1'],
      [HAIKU, 'Claude Haiku 4.5 Usage - Output Tokens', '0.05'],
      [null, 'Web Search Usage', '2'],
    ],
  ],
]);

let postgres: TestPostgres;
let provider: ScriptedProvider;
let gateway: TestGateway;

beforeAll(async () => {
  const [kind] = POSTGRES_KINDS;
  if (kind === undefined) throw new Error('no PostgreSQL');
  postgres = await startPostgres(kind);
  const url = await postgres.createDatabase('reconcile');
  await storeCalls(url);
  provider = await startScriptedProvider();
  gateway = await startGateway({ env: { DATABASE_URL: url, TOLLGATE_UPSTREAM_OPENAI: provider.origin } });
  writeReport('openai-costs.json', OPENAI_COSTS);
  writeReport('openai-usage.json', OPENAI_USAGE);
  writeReport('anthropic-costs.json', ANTHROPIC_COSTS);
});

afterAll(async () => {
  await gateway?.stop();
  await provider?.close();
  await postgres?.remove();
});

function pathOf(name: string): string {
  return join(gateway.dataDir, name);
}

function writeReport(name: string, report: object): void {
  writeFileSync(pathOf(name), JSON.stringify(report, null, 2));
}

interface Answer {
  readonly code: number;
  readonly output: string;
  readonly errors: string;
}

function reconcile(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Answer> {
  const command = [MAIN, 'reconcile', ...args, '--data-dir', gateway.dataDir];
  return new Promise((resolve) => {
    execFile(process.execPath, command, { env: { ...process.env, ...env } }, (error, output, errors) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, output: withoutDates(output), errors }),
    );
  });
}

/** The days of the test are those of the clock; in what is expected they have names of the same width. */
function withoutDates(text: string): string {
  const dates = [
    [FIRST_MS, 'first-day_'],
    [SECOND_MS, 'second-day'],
    [TODAY_MS, 'today_____'],
  ] as const;
  return dates
    .reduce((shown, [atMs, name]) => shown.replaceAll(new Date(atMs).toISOString().slice(0, 10), name), text)
    .replaceAll(gateway.adminBase, 'GATEWAY');
}

/** The answer that docs/reconcile.md shows, with the days of this test. */
function readExample(): string {
  const text = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'reconcile.md'), 'utf8');
  const [, example = ''] = text.split(/^```$/m);
  return example
    .replace(/^\n\$ .*\n/, '')
    .replaceAll('2026-11-26', 'first-day_')
    .replaceAll('2026-11-27', 'second-day')
    .replaceAll('2026-11-28', 'today_____')
    .replace('http://127.0.0.1:4142', 'GATEWAY');
}

test('OpenAI: a cut stream and a call around the gateway are found; today is shown, not judged', async () => {
  const usage = { prompt_tokens: 200, completion_tokens: 0, total_tokens: 200 };
  const body = JSON.stringify({ id: 'c', object: 'chat.completion', model: MINI, choices: [], usage });
  provider.setAnswer(() => buildAnswer({ headers: [['Content-Type', 'application/json']], body }));
  const answer = await fetch(`${gateway.base}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'x-gateway-key': gateway.key, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-4o-mini', messages: [] }),
  });
  expect((await answer.text()).length).toBe(body.length);
  await gateway.waitForLog(answer.headers.get('x-gateway-request-id') ?? '');
  const { code, output, errors } = await reconcile([
    '--provider',
    'openai',
    '--file',
    pathOf('openai-costs.json'),
    '--file',
    pathOf('openai-usage.json'),
  ]);
  expect(errors).toBe('');
  expect(output).toContain(readExample());
  expect(output.split('\n')).toEqual([
    'OpenAI: costs and usage/completions, first-day_ to today_____, beside the log of GATEWAY',
    '',
    'day (UTC)     model                           billed      logged      drift           calls',
    'first-day_    gpt-4o-mini-2024-07-18        $0.42       $0.42       0                     2  ✓ agrees',
    '              gpt-4o-2024-08-06 (= gpt-4o)  $0.0175   ≥ $0.01     +$0.0075   +42.9 %      2  ✗ unpriced here',
    '              sum of the day                $0.4375     $0.43     +$0.0075    +1.7 %      4',
    'second-day    gpt-4o-mini-2024-07-18        $0.42       $0.21     +$0.21     +50.0 %      1  ✗ drift',
    'today_____ *  gpt-4o-mini-2024-07-18        $0.00006    $0.00003  +$0.00003  +50.0 %      1  … drift',
    '              total of whole days           $0.8575     $0.64     +$0.2175   +25.4 %      5',
    '',
    'Tokens as the provider reports them; in brackets by how much that is more (+) or less (−) than the log',
    'day (UTC)   model                                    input  cache read  cache write              output  requests  calls',
    'second-day  gpt-4o-mini-2024-07-18  2,000,000 (+1,000,000)           0            0  200,000 (+100,000)         2      1  ✗ drift',
    '',
    '* not over yet, or not reported whole: both sides still move, and it is not judged.',
    '≥ calls without a known cost are in it.',
    '',
    '$0.2175 of the bill (25.4 %) is not in the log: $0.8575 billed, $0.64 logged in 5 calls.',
    '  • second-day gpt-4o-mini-2024-07-18: $0.21 more billed than logged: the provider counts 2 requests, the log has 1 good call: 1 did not come through the gateway, or the record is lost.',
    '  • first-day_ gpt-4o-2024-08-06: $0.0075 more billed than known here; 1 of 2 calls has no known cost (no price, or an answer cut before its usage): `tollgate logs --filter total_cost:nohas` lists them.',
    '',
  ]);
  expect(code).toBe(2);
});

test('rows are objects for programs, with exact money and a summary at the end', async () => {
  const row = {
    day: 'second-day',
    model: MINI,
    logged_as: [],
    calls: 1,
    errors: 0,
    unpriced_calls: 0,
    requests: 2,
    status: 'within_tolerance',
    open: false,
  };
  const tokens = (input: number, output: number) => ({
    input_tokens: input,
    cache_read_input_tokens: 0,
    cache_creation_input_tokens: 0,
    output_tokens: output,
  });
  const { code, output } = await reconcile([
    '--provider',
    'openai',
    '--file',
    pathOf('openai-costs.json'),
    '--file',
    pathOf('openai-usage.json'),
    '--from',
    new Date(SECOND_MS).toISOString().slice(0, 10),
    '--to',
    new Date(TODAY_MS).toISOString().slice(0, 10),
    '--json',
    '--tolerance',
    '50%',
  ]);
  expect(
    output
      .trim()
      .split('\n')
      .map((line): unknown => JSON.parse(line)),
  ).toEqual([
    {
      type: 'cost',
      ...row,
      billed: '0.42',
      logged: '0.21',
      drift: '0.21',
    },
    {
      type: 'tokens',
      ...row,
      billed: tokens(2_000_000, 200_000),
      logged: tokens(1_000_000, 100_000),
      drift: tokens(1_000_000, 100_000),
      estimated_drift_cost: null,
    },
    {
      type: 'summary',
      provider: 'openai',
      endpoints: ['costs', 'usage/completions'],
      from: 'second-day',
      to: 'today_____',
      billed: '0.42',
      logged: '0.21',
      drift: '0.21',
      agrees: true,
      verdict: 'Everything is within the tolerance: $0.42 billed, $0.21 logged in 1 call.',
      findings: [],
      notices: [],
    },
  ]);
  expect(code).toBe(0);
});

test('a usage report alone is compared by tokens, and what is apart has about its price', async () => {
  const { code, output } = await reconcile(['--provider', 'openai', '--file', pathOf('openai-usage.json')]);
  expect(output.split('\n').slice(6)).toEqual([
    'The tokens differ in 1 of 1 row, worth about $0.21 more than logged; the report has no costs.',
    '  • second-day gpt-4o-mini-2024-07-18: 1,100,000 tokens more (about $0.21) reported than logged: the provider counts 2 requests, the log has 1 good call: 1 did not come through the gateway, or the record is lost.',
    '',
  ]);
  expect(code).toBe(2);
});

test('Anthropic: a stream that never was logged is found to the last digit', async () => {
  const { code, output, errors } = await reconcile([
    '--provider',
    'anthropic',
    '--file',
    pathOf('anthropic-costs.json'),
  ]);
  expect(errors).toBe('');
  expect(output.split('\n')).toEqual([
    'Anthropic: cost_report, first-day_ to second-day, beside the log of GATEWAY',
    '',
    'day (UTC)   model                         billed    logged     drift            calls',
    'first-day_  claude-sonnet-4-5-20250929  $0.01994  $0.01994    0                     1  ✓ agrees',
    '            claude-haiku-4-5-20251001   $0.0105    —        +$0.0105  +100.0 %      0  ✗ not logged',
    '            sum of the day              $0.03044  $0.01994  +$0.0105   +34.5 %      1',
    'second-day  claude-haiku-4-5-20251001   $0.0015   $0.0215   −$0.02     −93.0 %      1  ✓ agrees by day',
    '            Web Search Usage            $0.02      —        +$0.02    +100.0 %      0  ✓ agrees by day',
    '            sum of the day              $0.0215   $0.0215     0                     1',
    '            total                       $0.05194  $0.04144  +$0.0105   +20.2 %      2',
    '',
    'agrees by day: a fee is billed by itself and logged with the model that caused it; the day is the same.',
    '',
    '$0.0105 of the bill (20.2 %) is not in the log: $0.05194 billed, $0.04144 logged in 2 calls.',
    '  • first-day_ claude-haiku-4-5-20251001: $0.0105 billed, no call logged: traffic that goes around the gateway, or lost records.',
    '',
  ]);
  expect(code).toBe(2);
});

test('--live fetches the reports with the key of the environment, which is never shown', async () => {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.url?.replace(/\?.*/, '')} ${request.headers['x-api-key'] === ADMIN_KEY}`);
    const isCosts = request.url?.startsWith('/v1/organizations/cost_report') === true;
    response.end(JSON.stringify(isCosts ? ANTHROPIC_COSTS : { data: [], has_more: false, next_page: null }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const env = { ANTHROPIC_ADMIN_KEY: ADMIN_KEY, ANTHROPIC_ADMIN_URL: `http://127.0.0.1:${port}` };
  const live = await reconcile(['--provider', 'anthropic', '--live', '--tolerance', '0.02'], env);
  server.close();
  expect(live.errors).toBe('');
  expect(live.output).toContain('✓ within tolerance');
  expect(live.code).toBe(0);
  expect(asked).toEqual(['/v1/organizations/cost_report true', '/v1/organizations/usage_report/messages true']);
  expect(live.output).not.toContain(ADMIN_KEY);
});

test('a report of the other provider is refused with what to do', async () => {
  const { code, output, errors } = await reconcile(['--provider', 'openai', '--file', pathOf('anthropic-costs.json')]);
  expect([code, output]).toEqual([1, '']);
  expect(errors).toMatch(
    /^tollgate: .*anthropic-costs\.json: it is a report of Anthropic; give it with --provider anthropic\n$/,
  );
});
