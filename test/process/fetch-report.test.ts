/** Fetching reports from a server on this machine that answers as the providers are documented to. */
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { fetchReport } from '../../src/cli/reconcile/fetch-report.ts';
import { collectReport } from '../../src/cli/reconcile/report/collect-report.ts';

const KEY = 'sk-admin-DEMO0000000000000000';
const DAYS = { from: '2026-11-25', to: '2026-11-27' };

interface Asked {
  readonly url: URL;
  readonly headers: IncomingHttpHeaders;
}
type Answer = { readonly status?: number; readonly headers?: Record<string, string>; readonly body: string };

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function serve(answer: (asked: Asked) => Answer): Promise<{ base: string; asked: Asked[] }> {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    const one = { url: new URL(request.url ?? '', 'http://here'), headers: request.headers };
    asked.push(one);
    const { status = 200, headers = {}, body } = answer(one);
    response.writeHead(status, { 'content-type': 'application/json', connection: 'close', ...headers }).end(body);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return { base: `http://127.0.0.1:${address.port}`, asked };
}

function openAi(base: string) {
  return fetchReport('openai', DAYS, { OPENAI_ADMIN_KEY: KEY, OPENAI_ADMIN_URL: base });
}

function bucket(day: number, results: readonly object[]): object {
  return {
    object: 'bucket',
    start_time: 1_795_564_800 + day * 86_400,
    end_time: 1_795_651_200 + day * 86_400,
    results,
  };
}

test('OpenAI: costs by line item and usage by model, page after page, with the admin key', async () => {
  const { base, asked } = await serve(({ url }) => {
    const isCosts = url.pathname.endsWith('/costs');
    const page = url.searchParams.get('page');
    const result = isCosts
      ? { amount: { value: 0.5, currency: 'usd' }, line_item: 'gpt-5, input' }
      : { object: 'organization.usage.completions.result', model: 'gpt-5', input_tokens: 7, output_tokens: 1 };
    if (url.pathname.endsWith('/embeddings')) return { body: JSON.stringify({ data: [], has_more: false }) };
    return {
      body: JSON.stringify(
        page === null
          ? { data: [bucket(0, [result])], has_more: true, next_page: 'AAAA=' }
          : { data: [bucket(1, [result])], has_more: false, next_page: null },
      ),
    };
  });
  const report = collectReport('openai', await openAi(`${base}/`));
  expect(report.days).toEqual({ cost: ['2026-11-25', '2026-11-26'], usage: ['2026-11-25', '2026-11-26'] });
  expect(report.lines).toHaveLength(4);
  expect(asked.map(({ url }) => `${url.pathname}${url.search}`)).toEqual([
    '/v1/organization/costs?start_time=1795564800&end_time=1795737600&bucket_width=1d&group_by=line_item&limit=180',
    '/v1/organization/costs?start_time=1795564800&end_time=1795737600&bucket_width=1d&group_by=line_item&limit=180&page=AAAA%3D',
    '/v1/organization/usage/completions?start_time=1795564800&end_time=1795737600&bucket_width=1d&group_by=model&limit=31',
    '/v1/organization/usage/completions?start_time=1795564800&end_time=1795737600&bucket_width=1d&group_by=model&limit=31&page=AAAA%3D',
    '/v1/organization/usage/embeddings?start_time=1795564800&end_time=1795737600&bucket_width=1d&group_by=model&limit=31',
  ]);
  expect(new Set(asked.map(({ headers }) => headers.authorization))).toEqual(new Set([`Bearer ${KEY}`]));
});

test('Anthropic: both reports, with its own headers', async () => {
  const { base, asked } = await serve(() => ({ body: '{"data":[],"has_more":false,"next_page":null}' }));
  await fetchReport('anthropic', DAYS, { ANTHROPIC_ADMIN_KEY: KEY, ANTHROPIC_ADMIN_URL: base });
  expect(asked.map(({ url }) => decodeURIComponent(`${url.pathname}${url.search}`))).toEqual([
    '/v1/organizations/cost_report?starting_at=2026-11-25T00:00:00Z&ending_at=2026-11-27T00:00:00Z&bucket_width=1d&group_by[]=description&limit=31',
    '/v1/organizations/usage_report/messages?starting_at=2026-11-25T00:00:00Z&ending_at=2026-11-27T00:00:00Z&bucket_width=1d&group_by[]=model&limit=31',
  ]);
  expect(asked[0]?.headers).toMatchObject({ 'x-api-key': KEY, 'anthropic-version': '2023-06-01' });
});

test.each([
  [
    { status: 401, body: `{"error":{"message":"Incorrect API key provided: ${KEY}."}}` },
    'OpenAI answered /v1/organization/costs with status 401: Incorrect API key provided: (key).; OPENAI_ADMIN_KEY has to be an admin key that may read usage',
  ],
  [
    { status: 403, body: '{"error":"You have insufficient permissions. Missing scopes: api.usage.read."}' },
    'OpenAI answered /v1/organization/costs with status 403: You have insufficient permissions. Missing scopes: api.usage.read.; OPENAI_ADMIN_KEY has to be an admin key that may read usage',
  ],
  [
    { status: 429, headers: { 'retry-after': '7' }, body: '{"error":{"message":"Rate limit: sk-adm***0000"}}' },
    'OpenAI answered /v1/organization/costs with status 429: Rate limit: (key); try again in 7 s',
  ],
  [{ status: 502, body: '<html>Bad gateway' }, 'OpenAI answered /v1/organization/costs with status 502'],
])('a refusal is told without the key: $status', async (answer: Answer, message) => {
  const { base } = await serve(() => answer);
  const error: unknown = await openAi(base).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ message });
  expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain(KEY);
});

test('a redirect is not followed: the key stays with the host it was meant for', async () => {
  const other = await serve(() => ({ body: '{}' }));
  const { base } = await serve(() => ({ status: 302, headers: { location: other.base }, body: '' }));
  await expect(openAi(base)).rejects.toThrow('cannot be reached for /v1/organization/costs, or it redirects');
  expect(other.asked).toEqual([]);
});

test('a provider that never comes to an end is left after 100 pages', async () => {
  let page = 0;
  const { base, asked } = await serve(() => {
    page += 1;
    return { body: JSON.stringify({ data: [], has_more: true, next_page: `page-${page}` }) };
  });
  await expect(openAi(base)).rejects.toThrow('/v1/organization/costs has more than 100 pages; ask for a shorter time');
  expect(asked).toHaveLength(100);
});

test('the key is asked for by name, and only sent over https or to this machine', async () => {
  await expect(fetchReport('openai', DAYS, {})).rejects.toThrow(
    '--live needs an admin key of OpenAI in the environment variable OPENAI_ADMIN_KEY',
  );
  await expect(openAi('http://example.com')).rejects.toThrow('an admin key is only sent over https');
  await expect(openAi('nowhere')).rejects.toThrow('OPENAI_ADMIN_URL: "nowhere" is not an address');
});
