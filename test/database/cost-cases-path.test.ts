/**
 * The worked cases on the whole path of a call: a client's request through the proxy at the case's time, the provider's
 * answer (whole, and as a stream where there is one), the meter, the spool, the shipper, the row in PostgreSQL.
 */
import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { BILLABLE_COLUMNS } from '../../src/control/prices/declared/billable-from-row.ts';
import { createCurrentPriceBook } from '../../src/control/prices/declared/current-price-book.ts';
import { ANSWER_FORMS } from '../../src/control/prices/quote/answer-forms.ts';
import { quoteCall } from '../../src/control/prices/quote/quote-call.ts';
import { readQuotedEndpoint } from '../../src/control/prices/quote/quoted-endpoint.ts';
import { COST_COLUMNS, type PricedRow, repriceCall } from '../../src/control/prices/reprice/reprice-call.ts';
import { startShipper } from '../../src/control/shipper/shipper.ts';
import { isObject, parseJson } from '../../src/formats/usage/read-json.ts';
import type { UsageFormatName } from '../../src/providers/format-names.ts';
import { createCallIds } from '../../src/proxy/call-id.ts';
import type { JsonObject, JsonValue } from '../../src/vocabulary/token-usage.ts';
import { formatUsd, parseUsd } from '../../src/vocabulary/usd.ts';
import { type InProcessProxy, startProxy } from '../proxy/start-proxy.ts';
import { toStream } from '../support/answer-streams.ts';
import {
  type CostCase,
  comparableLines,
  expectedLines,
  type PricedLine,
  readCostCases,
  toQuoteInput,
} from '../support/cost-cases.ts';
import { type ScriptedProvider, startScriptedProvider } from '../support/fake-provider.ts';
import { openTestPool } from '../support/open-migrated.ts';
import { POSTGRES_KINDS, startPostgres, type TestPostgres } from '../support/postgres.ts';
import { quietLog } from '../support/quiet-log.ts';
import { buildAnswer } from '../support/scripted-answer.ts';

const DRAIN_MS = 30_000;
/** For some hundreds of calls, one after the other: the clock goes with them. */
const CALLS_MS = 120_000;

/** Where only the question says that it was a batch, no route does. */
function isByRoute({ endpoint, context }: CostCase): boolean {
  return context.batch !== true || endpoint.includes('/batches');
}

/** Ids ascend, so that the calls are made in the order of their times. */
const CASES = [...readCostCases(), ...readCostCases('own-cases')]
  .filter(isByRoute)
  .sort((a, b) => Date.parse(a.requested_at) - Date.parse(b.requested_at));

interface Request {
  readonly method: string;
  readonly path: string;
  readonly body: string | FormData | null;
}

interface Answer {
  readonly contentType: string;
  readonly body: Buffer;
}

interface Exchange {
  readonly costCase: CostCase;
  readonly isStream: boolean;
  readonly request: Request;
  readonly answer: Answer;
}

interface Row {
  readonly requested_at: Date;
  readonly total_cost: string | null;
  readonly known_cost: string;
  readonly cost_status: string;
  readonly cost_lines: readonly PricedLine[];
  readonly price_version: string;
  readonly streamed: boolean | null;
}

const FORM_PATHS = /\/(?:images\/edits|audio\/transcriptions)$/;

function writeRequest({ endpoint, model, context }: CostCase, isStream: boolean): Request {
  const [method = '', template = ''] = endpoint.split(' ');
  const path = template.replace(/\{[^{}]*\}/, encodeURIComponent(model));
  const isModelInPath = path !== template;
  if (FORM_PATHS.test(path)) {
    const body = new FormData();
    body.set('model', model);
    body.set('file', new Blob(['sound or picture']), 'file.bin');
    for (const [name, value] of Object.entries({ n: context.n, size: context.size, quality: context.quality }))
      if (value !== undefined) body.set(name, String(value));
    if (isStream) body.set('stream', 'true');
    return { method, path, body };
  }
  const { n, size, quality, input_characters } = context;
  const body = {
    ...(isModelInPath ? {} : { model }),
    n,
    size,
    quality,
    input: 'x'.repeat(input_characters ?? 1),
    ...(isStream && !isModelInPath ? { stream: true } : {}),
  };
  return { method, path: isStream ? streamPath(path) : path, body: JSON.stringify(body) };
}

function streamPath(path: string): string {
  return path
    .replace(/:generateContent$/, ':streamGenerateContent?alt=sse')
    .replace(/\/converse$/, '/converse-stream')
    .replace(/\/invoke$/, '/invoke-with-response-stream');
}

/** Where a batch is billed: who asks for it gets nothing, who fetches its results gets their usage. */
function writeBatchRequest({ id, endpoint }: CostCase): Request | null {
  const [, path = ''] = endpoint.split(' ');
  if (path.endsWith('/messages/batches')) return { method: 'GET', path: `${path}/msgbatch_${id}/results`, body: null };
  return path.endsWith('/batches') ? { method: 'GET', path: `${path}/batch_${id}`, body: null } : null;
}

/** The batch object has the sum of its lines, under the names of the newer API. */
function renameUsage(usage: JsonObject | null): JsonObject {
  return Object.fromEntries(
    Object.entries(usage ?? {}).map(([name, value]): [string, JsonValue] => [
      name.replace(/^prompt_/, 'input_').replace(/^completion_/, 'output_'),
      value,
    ]),
  );
}

function formatOf(costCase: CostCase): UsageFormatName {
  return readQuotedEndpoint(toQuoteInput(costCase)).endpoint.format;
}

function writeAnswer(costCase: CostCase): Answer {
  const { id, model, context } = costCase;
  const isOpenAiBatch = costCase.endpoint.includes(' /v1/batches');
  const usage = isOpenAiBatch ? renameUsage(costCase.usage) : costCase.usage;
  const response = isOpenAiBatch ? { ...costCase.response, id: `batch_${id}` } : costCase.response;
  const form = ANSWER_FORMS[isOpenAiBatch ? 'batches' : formatOf(costCase)];
  const { contentType, body } = form.write({ usage, model, response, context, isBatchLine: isOpenAiBatch });
  return { contentType, body: Buffer.from(body) };
}

function listExchanges(costCase: CostCase): readonly Exchange[] {
  const batch = writeBatchRequest(costCase);
  const answer = writeAnswer(costCase);
  const whole: Exchange = {
    costCase,
    isStream: false,
    // An endpoint that only streams has one beside it that does not.
    request: batch ?? writeRequest({ ...costCase, endpoint: costCase.endpoint.replace('-stream', '') }, false),
    answer,
  };
  const body = batch === null ? parseJson(answer.body) : undefined;
  const stream = isObject(body) ? toStream(formatOf(costCase), body) : null;
  if (stream === null) return [whole];
  return [whole, { costCase, isStream: true, request: writeRequest(costCase, true), answer: stream }];
}

let postgres: TestPostgres;
let pool: pg.Pool;
let provider: ScriptedProvider;
let proxy: InProcessProxy;
/** The clock of the proxy. */
let nowMs = 0;
/** By the case, its rows: of the whole answer, then of the stream. */
const rows = new Map<string, readonly Row[]>();

async function call({ costCase, request, answer }: Exchange): Promise<string> {
  nowMs = Date.parse(costCase.requested_at);
  provider.setAnswer(() => buildAnswer({ headers: [['content-type', answer.contentType]], body: answer.body }));
  const response = await fetch(`${proxy.base}${request.path}`, {
    method: request.method,
    body: request.body,
    headers: {
      'x-gateway-key': proxy.key,
      'x-gateway-provider': costCase.provider,
      ...(typeof request.body === 'string' ? { 'content-type': 'application/json' } : {}),
    },
  });
  await response.arrayBuffer();
  if (response.status !== 200) throw new Error(`${costCase.id}: ${response.status}`);
  return response.headers.get('x-gateway-request-id') ?? '';
}

async function readRow(id: string): Promise<Row> {
  const { rows: found } = await pool.query<Row>(
    `select requested_at, total_cost, known_cost, cost_status, cost_lines, price_version, streamed
     from llm_requests where id = $1`,
    [id],
  );
  const [row] = found;
  if (row === undefined) throw new Error(`no row ${id}`);
  return row;
}

beforeAll(async () => {
  const [kind] = POSTGRES_KINDS;
  if (kind === undefined) throw new Error('no PostgreSQL');
  postgres = await startPostgres(kind);
  pool = openTestPool(await postgres.createDatabase('cost_cases'));
  provider = await startScriptedProvider();
  proxy = await startProxy(
    provider.origin,
    { bodies: 'off' },
    {},
    undefined,
    createCallIds(() => nowMs),
  );
  const ids = new Map<string, string[]>();
  for (const costCase of CASES) {
    const own: string[] = [];
    for (const exchange of listExchanges(costCase)) own.push(await call(exchange));
    ids.set(costCase.id, own);
  }
  const shipper = startShipper({
    pool,
    spoolDir: proxy.spoolDir,
    prices: createCurrentPriceBook(),
    log: quietLog(),
  });
  expect(await shipper.drain(DRAIN_MS)).toBe(true);
  await shipper.stop();
  for (const [id, own] of ids) rows.set(id, await Promise.all(own.map(readRow)));
}, CALLS_MS);
afterAll(async () => {
  await proxy?.close();
  await provider?.close();
  await pool?.end();
  await postgres?.remove();
});

const book = createCurrentPriceBook().book(1);

test.each(CASES.map((costCase) => [costCase.id, costCase] as const))(
  '%s is stored with the cost that was worked out by hand, whole and streamed',
  (id, costCase) => {
    const stored = rows.get(id) ?? [];
    expect(stored.length).toBeGreaterThan(0);
    const quote = quoteCall(toQuoteInput(costCase), book, nowMs);
    for (const row of stored) {
      expect({
        requested_at: row.requested_at.getTime(),
        total_cost: row.total_cost === null ? null : formatUsd(parseUsd(row.total_cost)),
        known_cost: formatUsd(parseUsd(row.known_cost)),
        cost_status: row.cost_status,
        lines: comparableLines(row.cost_lines),
      }).toEqual({
        requested_at: Date.parse(costCase.requested_at),
        total_cost: costCase.expected_cost_usd,
        known_cost: costCase.expected_known_usd ?? costCase.expected_cost_usd ?? '0',
        cost_status: costCase.expected_status ?? (costCase.expected_cost_usd === null ? 'unpriced' : 'exact'),
        lines: expectedLines(costCase),
      });
      // The quote says the same of it as the record, to the last word.
      expect(row.cost_lines).toEqual(quote.lines);
      expect(row.price_version).toBe(quote.priceVersion);
    }
  },
);

test('most cases are also streams', () => {
  const streamed = [...rows.values()].filter((own) => own.length === 2);
  expect(streamed.every(([whole, stream]) => whole?.streamed !== true && stream?.streamed === true)).toBe(true);
  expect(streamed.length).toBeGreaterThan(CASES.length / 2);
});

test('priced again from their rows, all of them cost what they cost', async () => {
  const columns = [...BILLABLE_COLUMNS, ...COST_COLUMNS, 'cost_lines'].join(', ');
  const { rows: stored } = await pool.query<PricedRow & Pick<Row, 'cost_lines'>>(`select ${columns} from llm_requests`);
  expect(stored.length).toBeGreaterThan(CASES.length);
  for (const row of stored) {
    const { priced, isChanged } = repriceCall(row, book.priceCall);
    expect([row.id, isChanged, priced.lines]).toEqual([row.id, false, row.cost_lines]);
  }
});
