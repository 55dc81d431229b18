/** The log over MCP, asked by the client of the official SDK over both transports, of a real database. */
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  ADMIN_TOKEN,
  type AdminDatabase,
  begunCall,
  endedCall,
  idAt,
  startAdminDatabase,
  tokens,
} from '../support/admin-database.ts';
import { callBody } from '../support/call-fixtures.ts';
import { POSTGRES_KINDS } from '../support/postgres.ts';

const [kind] = POSTGRES_KINDS;
let db: AdminDatabase;
const clients: Client[] = [];

const OWN = 1;
let other = 0;

const Created = z.object({ id: z.number(), token: z.string() });

function body(number: number, direction: 'request' | 'response', text: string) {
  return { type: 'body' as const, body: { ...callBody(number, direction, Buffer.from(text)), id: idAt(number) } };
}

beforeAll(async () => {
  if (kind === undefined) throw new Error('no PostgreSQL to test with');
  db = await startAdminDatabase(kind);
  for (const name of ['own', 'other']) {
    const { body: made } = await db.send('POST', '/keys', { name });
    other = z.object({ id: z.number() }).parse(made).id;
  }
  await db.store(
    endedCall(1, { traceId: 'mine', spanPath: 'plan', keyId: OWN }, { usage: tokens(100, 10) }),
    body(2, 'request', '{"messages":[{"role":"user","content":"the purple zebra"}]}'),
    body(2, 'response', '{"choices":[{"message":{"content":"striped"}}]}'),
    endedCall(2, { traceId: 'mine', spanPath: 'plan/search', keyId: OWN }, { usage: tokens(300, 30) }),
    endedCall(3, { traceId: 'theirs', spanPath: 'plan', keyId: other }, { usage: tokens(1_000, 100) }),
    endedCall(4, { traceId: 'shared', spanPath: 'a', keyId: OWN }, { usage: tokens(10, 1) }),
    endedCall(5, { traceId: 'shared', spanPath: 'b', keyId: other }, { usage: tokens(5_000, 1) }),
    endedCall(6, { traceId: 'claude-code:session-7', keyId: OWN }, { usage: tokens(50, 5) }),
  );
}, 60_000);
afterAll(async () => {
  await Promise.all(clients.map((client) => client.close()));
  await db.stop();
});

async function makeToken(options: object): Promise<z.infer<typeof Created>> {
  const { status, body: created } = await db.send('POST', '/read-tokens', { name: 'test', ...options });
  expect(status).toBe(201);
  return Created.parse(created);
}

async function connect(transport: StreamableHTTPClientTransport | StdioClientTransport): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(transport);
  clients.push(client);
  return client;
}

function connectHttp(token: string): Promise<Client> {
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  return connect(new StreamableHTTPClientTransport(new URL(`${db.url}/mcp`), { requestInit }));
}

function connectStdio(...args: string[]): Promise<Client> {
  const main = join(import.meta.dirname, '../../src/main.ts');
  const flags = ['--url', db.url, '--token', ADMIN_TOKEN, ...args];
  return connect(new StdioClientTransport({ command: process.execPath, args: [main, 'mcp', ...flags] }));
}

const Content = z.array(z.object({ type: z.literal('text'), text: z.string() }));

/** The JSON of a result, or the text of an error. */
async function call(client: Client, name: string, input: Record<string, unknown> = {}) {
  const result = await client.callTool({ name, arguments: input });
  const [first] = Content.parse(result.content);
  const text = first?.text ?? '';
  return result.isError === true ? { error: text } : z.record(z.string(), z.json()).parse(JSON.parse(text));
}

const Rows = z.array(z.object({ id: z.string().optional(), trace_id: z.string().optional() }).loose());
const idsOf = (page: Awaited<ReturnType<typeof call>>) => Rows.parse(page['data']).map(({ id }) => id);

const TOOLS = [
  'explain_cost',
  'get_call',
  'get_costs',
  'get_run',
  'list_calls',
  'list_open_calls',
  'list_runs',
  'search_calls',
];

describe.each([
  ['streamable HTTP', async () => connectHttp((await makeToken({ texts: true })).token)],
  ['stdio', () => connectStdio('--texts')],
])('over %s', (_, open) => {
  test('the SDK’s client lists the tools, pages calls, opens a run and a call, and searches', async () => {
    const client = await open();
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name).toSorted()).toEqual(TOOLS);
    expect(tools.every(({ annotations }) => annotations?.readOnlyHint === true)).toBe(true);

    const first = await call(client, 'list_calls', { limit: 4 });
    expect(idsOf(first)).toEqual([6, 5, 4, 3].map(idAt));
    const second = await call(client, 'list_calls', { limit: 4, cursor: first['next_cursor'] });
    expect(idsOf(second)).toEqual([2, 1].map(idAt));

    const run = await call(client, 'get_run', { trace_id: 'mine' });
    const Tree = z.array(z.object({ step: z.string(), depth: z.number(), calls: z.number(), total_cost: z.string() }));
    expect([run['total_cost'], Tree.parse(run['tree'])]).toEqual([
      '0.0008',
      [
        { step: 'plan', depth: 1, calls: 2, total_cost: '0.0008' },
        { step: 'plan/search', depth: 2, calls: 1, total_cost: '0.0006' },
      ],
    ]);

    const text = await call(client, 'get_call', { id: idAt(2), text: 'request', offset: 13, max_chars: 10 });
    expect([text['text'], text['next_offset']]).toEqual(['{"role":"u', 23]);
    expect(idsOf(await call(client, 'search_calls', { text: 'purple zebra' }))).toEqual([idAt(2)]);
    expect(await call(client, 'list_open_calls')).toEqual({ data: [], total: 0 });
  }, 60_000);
});

test('an agent asks what its own session cost, and why', async () => {
  const client = await connectHttp((await makeToken({})).token);
  const answer = await call(client, 'explain_cost', { id: 'mine' });
  const { totals, reasons } = z
    .object({ totals: z.object({ total_cost: z.string(), calls: z.number() }), reasons: z.array(z.string()) })
    .parse(answer);
  expect(totals).toMatchObject({ total_cost: '0.0008', calls: 2 });
  expect(reasons).toContain('75 % of it is the step plan/search: $0.0006 for 1 call.');
  const session = await call(client, 'explain_cost', { id: 'session-7' });
  expect(session).toMatchObject({ trace_id: 'claude-code:session-7', totals: { total_cost: '0.0001' } });
  await db.store(endedCall(7, { agentSession: 'session-9', keyId: other }, { usage: tokens(7, 0) }));
  const alone = await call(client, 'explain_cost', { id: 'session-9' });
  expect(alone).toMatchObject({ agent_session: 'session-9', totals: { calls: 1, total_cost: '0.000007' } });
  expect(await call(client, 'explain_cost', { id: 'nobody' })).toEqual({
    error: expect.stringMatching(/^run_not_found: No run and no session of an agent has this id/),
  });
});

test('a token without texts sees no text, and finds no call by it', async () => {
  const client = await connectHttp((await makeToken({})).token);
  expect(idsOf(await call(client, 'search_calls', { text: 'purple zebra' }))).toEqual([]);
  expect(idsOf(await call(client, 'search_calls', { text: 'mine' }))).toEqual([2, 1].map(idAt));
  expect(JSON.stringify(await call(client, 'list_calls'))).not.toContain('zebra');
  expect(await call(client, 'get_call', { id: idAt(2), text: 'request' })).toEqual({
    error: 'texts_forbidden: This token may not read the text of prompts and answers; make one that may.',
  });
});

test('a token of one key sees nothing of another’s, whatever it asks', async () => {
  const client = await connectHttp((await makeToken({ key_id: OWN, texts: true })).token);
  const theirs = { filters: [`key_id:eq:${other}`] };
  expect(idsOf(await call(client, 'list_calls'))).toEqual([6, 4, 2, 1].map(idAt));
  expect(idsOf(await call(client, 'list_calls', theirs))).toEqual([]);
  expect(await call(client, 'get_call', { id: idAt(3) })).toEqual({
    error: 'log_not_found: There is no call with this id.',
  });
  expect(await call(client, 'get_call', { id: idAt(3), text: 'request' })).toEqual({
    error: 'log_not_found: There is no call with this id.',
  });
  for (const tool of ['get_run', 'explain_cost'])
    expect(await call(client, tool, { trace_id: 'theirs', id: 'theirs' })).toMatchObject({
      error: expect.stringMatching(/not_found|Unrecognized/),
    });
  expect((await call(client, 'get_run', { trace_id: 'theirs' }))['error']).toBe(
    'run_not_found: There is no call with this trace id.',
  );
  expect(await call(client, 'get_run', { trace_id: 'shared' })).toMatchObject({
    totals: { calls: 1, total_cost: '0.00002' },
    steps: [{ step: 'a', calls: 1 }],
  });
  const runs = await call(client, 'list_runs');
  expect(Rows.parse(runs['data']).map((run) => [run.trace_id, run['total_cost'] ?? run['note']])).toEqual([
    ['claude-code:session-7', '0.0001'],
    ['shared', 'It has calls of other keys as well: get_run and explain_cost show yours.'],
    ['mine', '0.0008'],
  ]);
  const costs = await call(client, 'get_costs', { group_by: 'key' });
  expect(costs).toMatchObject({ totals: { calls: 4 }, data: [{ group: [String(OWN)] }] });
  const call4 = await call(client, 'get_call', { id: idAt(4) });
  expect(['next_id' in call4, 'previous_id' in call4]).toEqual([false, false]);
});

test('a token of one key asks nothing of runs that would tell of other keys’ calls in them', async () => {
  const client = await connectHttp((await makeToken({ key_id: OWN })).token);
  const listRuns = (input: Record<string, unknown>) => call(client, 'list_runs', input);
  for (const sort of ['-total_cost', '-duration_ms', '-calls', '-errors'])
    expect((await listRuns({ sort }))['error']).toMatch(/^key_token: .*sort by -ended_at or -started_at/);
  for (const filter of ['run.total_cost:gte:0.005', 'run.calls:eq:2', 'run.state:eq:ok', 'run.duration_ms:gt:1'])
    expect((await listRuns({ filters: [filter] }))['error']).toMatch(/^key_token: .*list_calls or get_costs/);
  expect((await listRuns({ search: 'b' }))['error']).toMatch(/^key_token: .*list_calls/);
  expect(Rows.parse((await listRuns({ filters: ['run.trace_id:eq:shared'] }))['data'])).toHaveLength(1);

  const traces: unknown[] = [];
  let cursor: unknown;
  do {
    const page = await listRuns({ limit: 1, sort: '-started_at', ...(cursor === undefined ? {} : { cursor }) });
    traces.push(Rows.parse(page['data'])[0]?.trace_id);
    cursor = page['next_cursor'];
    expect(Buffer.from(String(cursor), 'base64url').toString()).not.toMatch(/shared|mine|20\d\d-/);
  } while (cursor !== null);
  expect(traces).toEqual(['claude-code:session-7', 'shared', 'mine']);
  // Neither one of the API nor one that was changed.
  const { next_cursor: plain } = z.object({ next_cursor: z.string() }).parse(await db.read('/runs?limit=1'));
  expect((await listRuns({ cursor: plain }))['error']).toMatch(/^invalid_cursor: .* ask for the first page again\.$/);
  expect((await listRuns({ cursor: '' }))['error']).toMatch(/^invalid_cursor: /);
  const whole = await connectHttp((await makeToken({})).token);
  expect(Rows.parse((await call(whole, 'list_runs', { sort: '-total_cost', limit: 1 }))['data'])).toHaveLength(1);
});

test('a wrong, a revoked, an expired and an admin token are refused, and a read token opens nothing else', async () => {
  const { id, token } = await makeToken({});
  const ask = async (bearer: string | null, path = '/mcp', headers: Record<string, string> = {}) => {
    const authorization = bearer === null ? {} : { authorization: `Bearer ${bearer}` };
    const init = { method: path === '/mcp' ? 'POST' : 'GET', headers: { ...authorization, ...headers } };
    return (await fetch(`${db.url}${path}`, path === '/mcp' ? { ...init, body: '{}' } : init)).status;
  };
  const wrong = `${token.slice(0, -1)}${token.endsWith('a') ? 'b' : 'a'}`;
  expect([await ask(null), await ask(wrong), await ask(ADMIN_TOKEN), await ask('tgm_short')]).toEqual([
    401, 401, 401, 401,
  ]);
  expect(await ask(token)).not.toBe(401);
  expect(await ask(token, '/mcp', { origin: 'https://evil.example' })).toBe(403);
  expect([await ask(token, '/api/v1/logs'), await ask(token, '/metrics')]).toEqual([401, 401]);

  expect((await db.send('DELETE', `/read-tokens/${id}`)).status).toBe(200);
  expect(await ask(token)).toBe(401);
  const brief = await makeToken({ expires_at: new Date(Date.now() - 1_000).toISOString() });
  expect(await ask(brief.token)).toBe(401);

  const { rows } = await db.pool.query('select * from read_tokens');
  expect(JSON.stringify(rows)).not.toContain(token.slice(4, 40));
  const listed = JSON.stringify(await db.read('/read-tokens'));
  expect([listed.includes(token.slice(4, 40)), listed.includes(token.slice(-4))]).toEqual([false, true]);
});

test('a token for a key that is not there is refused', async () => {
  const { status } = await db.send('POST', '/read-tokens', { name: 'x', key_id: 999 });
  expect(status).toBe(404);
});

test('an answer keeps to its bound: a page has fewer rows, and goes on behind the last of them', async () => {
  const long = 'x'.repeat(3_500);
  await db.store(
    ...Array.from({ length: 30 }, (_, at) =>
      endedCall(100 + at, { keyId: OWN, traceId: 'long', metadata: [['Note', long]] }, { usage: tokens(1, 1) }),
    ),
  );
  const client = await connectHttp((await makeToken({})).token);
  const page = await call(client, 'list_calls', { limit: 30 });
  expect(idsOf(page)).toEqual([129, 128, 127, 126, 125, 124, 123].map(idAt));
  const next = await call(client, 'list_calls', { limit: 30, cursor: page['next_cursor'] });
  expect(idsOf(next)[0]).toBe(idAt(122));
});

test('a run of very many steps is told as far as it fits, its outermost steps first', async () => {
  const calls = Array.from({ length: 300 }, (_, at) => [2_000 + at, `plan/step ${at}`] as const);
  await db.store(
    ...calls.map(([number, spanPath]) =>
      endedCall(number, { keyId: OWN, traceId: 'many steps', spanPath }, { usage: tokens(1, 1) }),
    ),
    ...calls.map(([number, spanPath]) =>
      endedCall(number + 1_000, { keyId: OWN, traceId: 'others too', spanPath: spanPath.padEnd(300, 'x') }),
    ),
    endedCall(4_000, { keyId: other, traceId: 'others too', spanPath: 'plan' }),
  );
  const client = await connectHttp((await makeToken({ key_id: OWN })).token);
  const run = await call(client, 'get_run', { trace_id: 'many steps' });
  const tree = z.array(z.object({ step: z.string() })).parse(run['tree']);
  expect([run['calls'], tree[0]?.step]).toEqual([300, 'plan']);
  expect(tree.length).toBeGreaterThan(100);
  expect(run['steps_left_out']).toBe(301 - tree.length);
  const own = await call(client, 'get_run', { trace_id: 'others too' });
  expect(own).toMatchObject({ totals: { calls: 300 }, rest: expect.anything() });
});

test('of a body that was cut it is said how much is missing, and a part that would be too long ends sooner', async () => {
  const cut = { ...body(31, 'request', '{"messages":"beginend"}').body, headBytes: 18, totalBytes: 1_000 };
  await db.store(
    { type: 'body', body: cut },
    body(31, 'response', '"'.repeat(30_000)),
    endedCall(31, { keyId: OWN }, { usage: tokens(1, 1) }),
  );
  for (const client of [await connectHttp((await makeToken({ texts: true })).token), await connectStdio('--texts')]) {
    expect(await call(client, 'get_call', { id: idAt(31), text: 'request' })).toMatchObject({
      text: '{"messages":"beginend"}',
      missing_bytes: 977,
    });
    const long = await call(client, 'get_call', { id: idAt(31), text: 'response', max_chars: 30_000 });
    expect(long).toMatchObject({ text: '"'.repeat(15_000), text_chars: 30_000, next_offset: 15_000 });
    expect(long).not.toHaveProperty('missing_bytes');
  }
}, 60_000);

test.each([
  ['read token', async (id: number) => connectHttp((await makeToken({ key_id: id, texts: true })).token)],
  ['flag --key', (id: number) => connectStdio('--key', String(id))],
])(
  'a %s of a key sees the calls of both halves of its rotation, and nobody else’s',
  async (how, open) => {
    const Made = z.object({ id: z.number() });
    const old = Made.parse((await db.send('POST', '/keys', { name: how })).body).id;
    const client = await open(old);
    const [first, traceId] = [how === 'read token' ? 9_010 : 9_020, `rotated ${how}`];
    await db.store(endedCall(first, { keyId: old, traceId }, { usage: tokens(10, 0) }));
    expect(idsOf(await call(client, 'list_calls'))).toEqual([idAt(first)]);
    const young = Made.parse((await db.send('POST', `/keys/${old}/rotate`, { overlap_seconds: 0 })).body).id;
    await db.store(
      endedCall(first + 1, { keyId: young, traceId }, { usage: tokens(20, 0) }),
      endedCall(first + 2, { keyId: other, traceId: null }, { usage: tokens(40, 0) }),
    );
    const later = await open(young);
    for (const asked of [client, later]) {
      expect(idsOf(await call(asked, 'list_calls'))).toEqual([idAt(first + 1), idAt(first)]);
      expect(await call(asked, 'get_call', { id: idAt(first + 1) })).toMatchObject({ key_id: young });
      expect(await call(asked, 'get_call', { id: idAt(first + 2) })).toHaveProperty('error');
      expect(await call(asked, 'get_run', { trace_id: traceId })).toMatchObject({ calls: 2, key_ids: [old, young] });
      expect(await call(asked, 'get_costs')).toMatchObject({ totals: { calls: 2 } });
    }
  },
  60_000,
);

test('a token of one key takes as many filters as any other', async () => {
  const filters = Array.from({ length: 19 }, (_, at) => `model:ne:m${at}`);
  for (const key of [{}, { key_id: OWN }]) {
    const client = await connectHttp((await makeToken(key)).token);
    expect(await call(client, 'list_calls', { filters, limit: 1 })).toHaveProperty('data');
    expect(await call(client, 'list_calls', { filters: [...filters, 'model:ne:x'] })).toHaveProperty('error');
  }
});

test('a search of a token without texts answers as if there were no texts', async () => {
  await db.store(
    ...[21, 22, 23].flatMap((number) => [
      body(number, 'request', '{"messages":[{"role":"user","content":"the password is hunter2"}]}'),
      endedCall(number, { keyId: OWN, traceId: 'secret' }, { usage: tokens(1, 1) }),
    ]),
    endedCall(24, { keyId: OWN, traceId: 'secret', metadata: [['Feature', 'hunter7']] }, { usage: tokens(1, 1) }),
  );
  const reader = await connectHttp((await makeToken({})).token);
  const search = (text: string) => call(reader, 'search_calls', { text, limit: 1 });
  expect([await search('hunter2'), await search('hunter8')]).toEqual(
    Array(2).fill({ data: [], next_cursor: null, searched_to: null }),
  );
  expect(await search('hunter')).toMatchObject({ data: [{ id: idAt(24) }], next_cursor: null });
  const all = await connectHttp((await makeToken({ texts: true })).token);
  expect(idsOf(await call(all, 'search_calls', { text: 'hunter2' }))).toEqual([23, 22, 21].map(idAt));
  const ask = async (path: string) => JSON.stringify(await db.read(path));
  const window = `from=${new Date(0).toISOString()}&to=${new Date(Date.now() + 86_400_000).toISOString()}`;
  for (const [path, none, some] of [
    ['/logs?limit=1', '"data":[]', idAt(23)],
    [`/logs/summary?${window}`, '"calls":0', '"calls":3'],
    ['/logs/facets?', '"scanned_calls":0', '"scanned_calls":3'],
  ] as const)
    expect([await ask(`${path}&q=hunter2&q_texts=false`), await ask(`${path}&q=hunter2`)]).toEqual([
      expect.stringContaining(none),
      expect.stringContaining(some),
    ]);
});

test('a run is of one key alone only where each of its calls is, also of those that are open or very many', async () => {
  await db.store(
    ...Array.from({ length: 202 }, (_, at) =>
      endedCall(300 + at, { traceId: 'long-shared', keyId: at === 201 ? other : OWN }, { usage: tokens(1, 1) }),
    ),
    ...Array.from({ length: 60 }, (_, at) =>
      endedCall(600 + at, { traceId: `one-${at}`, keyId: OWN }, { usage: tokens(1, 1) }),
    ),
    endedCall(700, { traceId: 'half-open', keyId: OWN }, { usage: tokens(1, 1) }),
    begunCall(701, { traceId: 'half-open', keyId: other }),
    endedCall(702, { traceId: 'own-open', keyId: OWN }, { usage: tokens(1, 1) }),
    begunCall(703, { traceId: 'own-open', keyId: OWN }),
    ...Array.from({ length: 150 }, (_, at) =>
      endedCall(800 + at, { traceId: 'long-own', keyId: OWN }, { usage: tokens(1, 1) }),
    ),
  );
  const client = await connectHttp((await makeToken({ key_id: OWN })).token);
  const runs = Rows.parse((await call(client, 'list_runs', { limit: 100 }))['data']);
  const callsOf = (traceId: string) => runs.find((run) => run.trace_id === traceId)?.['calls'];
  expect(['long-shared', 'half-open', 'own-open', 'long-own', 'one-7'].map(callsOf)).toEqual([
    undefined,
    undefined,
    1,
    150,
    1,
  ]);
  const [shared, halfOpen] = [
    await call(client, 'get_run', { trace_id: 'long-shared' }),
    await call(client, 'get_run', { trace_id: 'half-open' }),
  ];
  expect([shared['totals'], halfOpen['totals']]).toMatchObject([{ calls: 201 }, { calls: 1 }]);
});
