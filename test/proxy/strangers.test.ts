/**
 * A credential never goes to a stranger: paths × headers × credentials of all seven, over the real proxy, with seven
 * upstreams that write down what reached them.
 */
import { Agent, createServer, request, type Server } from 'node:http';
import { connect } from 'node:http2';
import { connect as connectTcp } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createGatewayKey, createRunToken, digestKey } from '../../src/keys/gateway-key.ts';
import { createKeySnapshot } from '../../src/keys/key-snapshot.ts';
import { PROVIDER_NAMES, type ProviderName } from '../../src/vocabulary/call-record.ts';
import { type InProcessProxy, startProxy } from './start-proxy.ts';

/** As each provider gives them out; none is real. */
const CREDENTIALS: readonly (readonly [ProviderName, string])[] = [
  ['openai', 'sk-proj-0000'],
  ['openai', 'sk-svcacct-0000'],
  ['openai', 'sk-00000000000000000000T3BlbkFJ00000000000000000000'],
  ['anthropic', 'sk-ant-api03-0000'],
  ['anthropic', 'sk-ant-oat01-0000'],
  ['anthropic', 'aws-external-anthropic-api-key-MDAw'],
  ['gemini', 'AIzaSy0000'],
  ['gemini', 'AQ.Ab8RN60000'],
  ['bedrock', 'bedrock-api-key-MDAw'],
  ['bedrock', 'ABSKMDAwMDA='],
  ['fireworks', 'fw_0000'],
  ['together', 'tgp_v1_0000'],
  ['together', '0'.repeat(64)],
  ['deepseek', `sk-${'0'.repeat(32)}`],
];

/** Of every provider's clients, shared ones, wrong bases, and paths that nobody has. */
const PATHS = [
  '/v1/chat/completions',
  '/v1/completions',
  '/v1/responses',
  '/v1/embeddings',
  '/v1/images/generations',
  '/v1/audio/speech',
  '/v1/moderations',
  '/v1/files',
  '/v1/batches',
  '/v1/models',
  '/v1/models/m',
  '/v1/uploads',
  '/v1/fine_tuning/jobs',
  '/v1/vector_stores',
  '/v1/agents',
  '/v1/agents/a/sessions',
  '/v1/vaults',
  '/v1/skills',
  '/v1/evals',
  '/v1/threads',
  '/v1/containers',
  '/v1/videos',
  '/v1/organization/costs',
  '/v1/realtime/calls',
  '/v1/messages',
  '/v1/messages/count_tokens',
  '/v1/messages/batches',
  '/v1/complete',
  '/v1/sessions/s/events',
  '/v1/environments',
  '/v1/deployments',
  '/v1/deployment_runs',
  '/v1/dreams',
  '/v1/memory_stores',
  '/v1/tunnels',
  '/v1/user_profiles',
  '/v1/organizations/me',
  '/v1/auth_tokens',
  '/v1/models/m:generateContent',
  '/v1beta/models/m:generateContent',
  '/v1alpha/auth_tokens',
  '/v1beta/openai/chat/completions',
  '/v1/interactions',
  '/upload/v1beta/files',
  '/v1/tunedModels',
  '/v1/cachedContents',
  '/model/m/converse',
  '/model/m/invoke',
  '/async-invoke',
  '/guardrail/g/version/1/apply',
  '/openai/v1/chat/completions',
  '/anthropic/v1/messages',
  '/inference/v1/chat/completions',
  '/v1/accounts/a/models',
  '/v1/rerank',
  '/v1/tci/execute',
  '/v1/endpoints',
  '/v2/videos',
  '/beta/completions',
  '/user/balance',
  '/v1/tools/search',
  '/chat/completions',
  '/messages',
  '/v1/v1/messages',
  '/v1/v1/chat/completions',
  '/v1beta/v1/models/m:countTokens',
  '/v1/model/m/converse',
  '/models/m:generateContent',
  '/v1/nobody/has/this',
  '/nobody/has/this',
  '/',
  '/v1/admin_api_keys',
];

const HEADERS: readonly (readonly [string, string])[][] = [
  [],
  [['anthropic-version', '2026-10-21']],
  [['user-agent', 'OpenAI/Python 3.57.0']],
  [
    ['user-agent', 'Together/Python 3.1.1'],
    ['openai-beta', 'agents=v1'],
  ],
  [['user-agent', 'google-genai-sdk/3.6.1 gl-python/3.11.7']],
];

type Sent = readonly (readonly [string, string])[];
/** Where a credential can stand: headers and query. */
const PLACES: readonly ((credential: string) => { readonly headers: Sent; readonly query: string })[] = [
  (credential) => ({ headers: [['authorization', `Bearer ${credential}`]], query: '' }),
  (credential) => ({ headers: [['x-api-key', credential]], query: '' }),
  (credential) => ({ headers: [['api-key', credential]], query: '' }),
  (credential) => ({ headers: [['x-goog-api-key', credential]], query: '' }),
  (credential) => ({ headers: [], query: `?alt=sse&key=${encodeURIComponent(credential)}` }),
  (credential) => ({
    headers: [['Authorization', `Basic ${Buffer.from(`user:${credential}`).toString('base64')}`]],
    query: '',
  }),
  (credential) => ({
    headers: [
      ['authorization', 'Bearer 0000'],
      ['Authorization', `bearer  ${credential}`],
    ],
    query: '',
  }),
];

const upstreams: Server[] = [];
/** By the number of the request: whom it reached. */
const reached = new Map<number, ProviderName[]>();
let proxy: InProcessProxy;
let count = 0;

beforeAll(async () => {
  const addresses: Partial<Record<ProviderName, { readonly origin: string; readonly region: null }>> = {};
  for (const name of PROVIDER_NAMES) {
    const note = (sent: { readonly headers: NodeJS.Dict<string | string[]> }) => {
      const number = Number(sent.headers['x-case']);
      reached.set(number, [...(reached.get(number) ?? []), name]);
    };
    const server = createServer((incoming, outgoing) => {
      note(incoming);
      incoming.resume();
      outgoing.end('{}');
    });
    server.on('upgrade', (incoming, socket) => {
      note(incoming);
      socket.end('HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    upstreams.push(server);
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    addresses[name] = { origin: `http://127.0.0.1:${address.port}`, region: null };
  }
  proxy = await startProxy('http://127.0.0.1:1', { bodies: 'off' }, { upstreams: addresses });
});

afterAll(async () => {
  await proxy.close();
  for (const server of upstreams) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

interface Trial {
  readonly method?: string;
  readonly path: string;
  readonly headers: Sent;
}
interface Verdict {
  readonly status: number;
  readonly error: string | null;
  readonly reached: readonly ProviderName[];
}

const agent = new Agent({ keepAlive: true, maxSockets: 16 });

function sendOne({ method = 'POST', path, headers }: Trial): Promise<Verdict> {
  count += 1;
  const number = count;
  const sent = [...headers, ['X-Gateway-Key', proxy.key] as const, ['x-case', String(number)] as const].flat();
  return new Promise((resolve, reject) => {
    const outgoing = request(
      { agent, host: '127.0.0.1', port: proxy.port, method, path, headers: ['Host', 'g', ...sent] },
      (answer) => {
        answer.resume();
        answer.once('end', () => {
          const error = answer.headers['x-gateway-error'];
          const receivers = reached.get(number) ?? [];
          resolve({
            status: answer.statusCode ?? 0,
            error: typeof error === 'string' ? error : null,
            reached: receivers,
          });
        });
      },
    );
    outgoing.once('error', reject);
    outgoing.end(method === 'GET' || method === 'HEAD' ? undefined : '{}');
  });
}

/** Many at once, in their order. */
async function sendAll(trials: readonly Trial[]): Promise<Verdict[]> {
  const verdicts: Verdict[] = [];
  for (let start = 0; start < trials.length; start += 64)
    verdicts.push(...(await Promise.all(trials.slice(start, start + 64).map(sendOne))));
  return verdicts;
}

function report(title: string, owners: readonly ProviderName[], verdicts: readonly Verdict[]): number {
  const strangers = verdicts.filter((verdict, index) => verdict.reached.some((name) => name !== owners[index])).length;
  const refused = verdicts.filter(({ error }) => error === 'credential_of_other_provider').length;
  const atHome = verdicts.filter((verdict, index) => verdict.reached.includes(owners[index] ?? 'openai')).length;
  process.stdout.write(
    `${title}: ${verdicts.length} combinations, ${atHome} reached their provider, ${refused} refused, ${strangers} reached a stranger\n`,
  );
  return strangers;
}

test('with no provider named, a credential that tells its provider goes there on every path, whatever else is sent', async () => {
  const trials: Trial[] = [];
  const owners: ProviderName[] = [];
  for (const path of PATHS)
    for (const [place, at] of PLACES.entries())
      for (const [index, [owner, credential]] of CREDENTIALS.entries()) {
        const { headers, query } = at(credential);
        const more = HEADERS[(index + place + trials.length) % HEADERS.length] ?? [];
        trials.push({ path: path + query, headers: [...headers, ...more] });
        owners.push(owner);
      }
  const verdicts = await sendAll(trials);
  expect(report('unnamed', owners, verdicts)).toBe(0);
  const elsewhere = verdicts.flatMap((verdict, index) =>
    verdict.reached.length === 1 && verdict.status === 200 ? [] : [{ ...trials[index], ...verdict }],
  );
  expect(elsewhere.slice(0, 5)).toEqual([]);
}, 240_000);

test('against a named provider it is refused before anything is sent, and with its own it passes', async () => {
  const trials: Trial[] = [];
  const owners: ProviderName[] = [];
  const isAtHome: boolean[] = [];
  for (const [row, path] of PATHS.entries())
    for (const named of PROVIDER_NAMES)
      for (const [index, [owner, credential]] of CREDENTIALS.entries()) {
        const at = PLACES[(row + index) % PLACES.length];
        if (at === undefined) continue;
        const { headers, query } = at(credential);
        trials.push({ path: path + query, headers: [...headers, ['X-Gateway-Provider', named]] });
        owners.push(owner);
        isAtHome.push(named === owner);
      }
  const verdicts = await sendAll(trials);
  expect(report('named', owners, verdicts)).toBe(0);
  const wrong = verdicts.flatMap((verdict, index) => {
    const expected = isAtHome[index] === true ? null : 'credential_of_other_provider';
    return verdict.error === expected ? [] : [{ ...trials[index], ...verdict }];
  });
  expect(wrong.slice(0, 5)).toEqual([]);
}, 240_000);

/** Where nobody expects one, and clients put it all the same: by a template that was not filled, by a proxy's habit, by mistake. */
const ODD_PLACES: Readonly<Record<string, (credential: string) => { readonly headers: Sent; readonly query: string }>> =
  {
    'behind a scheme and a colon': (text) => ({ headers: [['authorization', `Bearer:${text}`]], query: '' }),
    'as the second of two': (text) => ({ headers: [['authorization', `Bearer 0000,Bearer ${text}`]], query: '' }),
    'in the brackets of a template': (text) => ({ headers: [['authorization', `Bearer <${text}>`]], query: '' }),
    'in the braces of a shell': (text) => ({ headers: [['x-api-key', `\${${text}}`]], query: '' }),
    quoted: (text) => ({ headers: [['authorization', `Bearer "${text}"`]], query: '' }),
    'percent-encoded in a header': (text) => ({ headers: [['x-api-key', text.replaceAll(/./g, hexOf)]], query: '' }),
    'as a user without a password': (text) => ({
      headers: [['authorization', `Bearer 0000, Basic ${Buffer.from(`${text}:`).toString('base64')}`]],
      query: '',
    }),
    'in a cookie': (text) => ({ headers: [['cookie', `theme=dark; session="${text}"`]], query: '' }),
    'as JSON': (text) => ({ headers: [['x-config', `{"api_key":"${text}","n":1}`]], query: '' }),
    'in a header of any name': (text) => ({ headers: [['openai-organization', text]], query: '' }),
    'in the user agent': (text) => ({ headers: [['user-agent', `mine/1.0 (${text})`]], query: '' }),
    'in the address of a page': (text) => ({ headers: [['referer', `https://example.com/?key=${text}`]], query: '' }),
    'behind a scheme in the query': (text) => ({
      headers: [],
      query: `?authorization=Bearer+${encodeURIComponent(text)}`,
    }),
    'alone in the query': (text) => ({ headers: [], query: `?${text}` }),
    'encoded three times in the query': (text) => ({
      headers: [],
      query: `?next=${[1, 2, 3].reduce((address) => encodeURIComponent(address), `https://example.com/?key=${text}`)}`,
    }),
    'in a segment of the path': (text) => ({ headers: [], query: `/${encodeURIComponent(text)}/x` }),
    'as a parameter of the path': (text) => ({ headers: [], query: `;key=${encodeURIComponent(text)}` }),
  };

function hexOf(character: string): string {
  return `%${character.charCodeAt(0).toString(16)}`;
}

test.each(Object.entries(ODD_PLACES))('a credential %s goes to its provider or nowhere', async (_, at) => {
  const trials: Trial[] = [];
  const owners: ProviderName[] = [];
  for (const [owner, beginning] of CREDENTIALS)
    for (const path of ['/v1/chat/completions', '/v1/messages', '/v1/agents'])
      for (const named of [null, ...PROVIDER_NAMES]) {
        // Digits alone may be a digest of something.
        if (/^0+$/.test(beginning)) continue;
        const { headers, query } = at(
          /0{20}/.test(beginning) ? beginning : beginning.replace('0000', '0000aB1cD2eF3gH4'),
        );
        trials.push({
          path: path + query,
          headers: named === null ? headers : [...headers, ['X-Gateway-Provider', named]],
        });
        owners.push(owner);
      }
  const verdicts = await sendAll(trials);
  const strangers = verdicts.flatMap(({ reached: receivers }, index) =>
    receivers.every((name) => name === owners[index]) ? [] : [trials[index]],
  );
  expect(strangers.slice(0, 3)).toEqual([]);
  expect(verdicts.filter(({ reached: receivers }) => receivers.length === 1).length).toBe(trials.length / 4);
});

test('what only resembles a credential is none', async () => {
  const digits = 'a'.repeat(64);
  const answers = await sendAll(
    [
      [['x-content-sha256', digits]],
      [['x-auth-token', digits]],
      [['cookie', 'fw_session=abc; fw_id="x"; AQ.theme=1']],
      [['x-features', 'fw_enabled_feature, task-ant-hill-2, ABSK']],
      [['x-request-id', `mysk-ant-0000aB1cD2eF`]],
      [['authorization', 'Bearer eyJhbGciOiJub25l.eyJzdWIiOiIxIn0.fw_0000aB1cD2eF3gH4']],
      [['authorization', 'Bearer sk-or-v1-0000aB1cD2eF3gH4']],
      [['traceparent', `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`]],
    ].map((headers) => ({
      path: '/v1/chat/completions?model=fw_model',
      headers: headers.map(([name = '', value = '']) => [name, value] as const),
    })),
  );
  expect(answers.map(({ reached: receivers }) => receivers)).toEqual(answers.map(() => ['openai']));
});

test('credentials of two providers in one call go to neither, whichever is named', async () => {
  const trials: Trial[] = [];
  const owners: ProviderName[] = [];
  for (const path of ['/v1/chat/completions', '/v1/messages', '/v1beta/models/m:generateContent', '/model/m/invoke'])
    for (const [one, first] of CREDENTIALS)
      for (const [other, second] of CREDENTIALS)
        for (const named of [null, one, other]) {
          if (one === other) continue;
          const place: Sent = named === null ? [] : [['X-Gateway-Provider', named]];
          const headers: Sent = [['authorization', `Bearer ${first}`], ['x-api-key', second], ...place];
          trials.push({ path, headers });
          owners.push(one);
        }
  const verdicts = await sendAll(trials);
  report('two of them', owners, verdicts);
  expect(verdicts.filter(({ reached: receivers }) => receivers.length > 0)).toEqual([]);
  expect(new Set(verdicts.map(({ error }) => error))).toEqual(new Set(['credential_of_other_provider']));
}, 240_000);

test('a header that only Google’s clients send names Google, whatever stands in it', async () => {
  const key: Sent = [['x-goog-api-key', 'opaque']];
  const [unnamed, named] = await sendAll([
    { path: '/v1/auth_tokens', headers: key },
    { path: '/v1/chat/completions', headers: [...key, ['X-Gateway-Provider', 'openai']] },
  ]);
  expect([unnamed?.reached, named?.error, named?.reached]).toEqual([['gemini'], 'credential_of_other_provider', []]);
});

test('over HTTP/2 it is the same', async () => {
  const session = connect(proxy.base);
  const owners: ProviderName[] = [];
  const verdicts: Verdict[] = [];
  for (const path of PATHS)
    for (const [index, [owner, credential]] of CREDENTIALS.entries()) {
      count += 1;
      const number = count;
      const named =
        index % 3 === 0 ? { 'x-gateway-provider': PROVIDER_NAMES[number % PROVIDER_NAMES.length] ?? '' } : {};
      const place = index % 2 === 0 ? { authorization: `Bearer ${credential}` } : { 'x-api-key': credential };
      const stream = session.request({
        ':method': 'POST',
        ':path': path,
        'x-gateway-key': proxy.key,
        'x-case': String(number),
        ...named,
        ...place,
      });
      stream.end('{}');
      stream.resume();
      const [head] = await Promise.all([
        new Promise<{ readonly 'x-gateway-error'?: unknown }>((resolve) => stream.once('response', resolve)),
        new Promise((resolve) => stream.once('end', resolve)),
      ]);
      owners.push(owner);
      const error = head['x-gateway-error'];
      verdicts.push({
        status: 0,
        error: typeof error === 'string' ? error : null,
        reached: reached.get(number) ?? [],
      });
    }
  session.close();
  expect(report('HTTP/2', owners, verdicts)).toBe(0);
}, 240_000);

test('a websocket’s key, also where it stands in the offered protocols as browsers send it, goes to its provider or nowhere', async () => {
  const owners: ProviderName[] = [];
  const verdicts: Verdict[] = [];
  const live = '/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent';
  for (const path of ['/v1/realtime?model=m', '/v1/responses', live, '/v1/audio/speech/websocket', '/v1/v1/realtime'])
    for (const [owner, credential] of CREDENTIALS)
      for (const named of [null, ...PROVIDER_NAMES])
        for (const line of [
          `Sec-WebSocket-Protocol: realtime, openai-insecure-api-key.${credential}, openai-beta.realtime-v1`,
          `Authorization: Bearer ${credential}`,
          `x-api-key: ${credential}`,
          `x-goog-api-key: ${credential}`,
          `?key=${encodeURIComponent(credential)}`,
        ]) {
          count += 1;
          const number = count;
          const provider = named === null ? '' : `X-Gateway-Provider: ${named}\r\n`;
          const isQuery = line.startsWith('?');
          const target = isQuery ? path + (path.includes('?') ? line.replace('?', '&') : line) : path;
          const carried = isQuery ? '' : `${line}\r\n`;
          const head = `GET ${target} HTTP/1.1\r\nHost: g\r\nX-Gateway-Key: ${proxy.key}\r\nx-case: ${number}\r\n${provider}${carried}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n`;
          await new Promise<void>((resolve, reject) => {
            const socket = connectTcp(proxy.port, '127.0.0.1', () => socket.write(head));
            socket.resume();
            socket.once('error', reject);
            socket.once('close', () => resolve());
          });
          owners.push(owner);
          verdicts.push({ status: 0, error: null, reached: reached.get(number) ?? [] });
        }
  expect(report('websockets', owners, verdicts)).toBe(0);
  expect(verdicts.some(({ reached: receivers }) => receivers.includes('openai'))).toBe(true);
}, 240_000);

/** Paths that providers have added since, deeper ones of every kind, and forms that a client's URL library makes. */
const NEWER_PATHS = [
  '/v1/conversations',
  '/v1/chatkit/sessions',
  '/v1/realtime/client_secrets',
  '/v1/realtime/calls/c/accept',
  '/v1/responses/input_tokens',
  '/v1/responses/r/cancel',
  '/v1/images/edits',
  '/v1/videos/v/remix',
  '/v1/files/f/content',
  '/v1/batches/b/cancel',
  '/v1/messages/batches/b/results',
  '/v1/organizations/workspaces',
  '/v1/memory_stores/m/memories',
  '/v1beta/models/m:batchGenerateContent',
  '/v1beta/models/m:streamGenerateContent?alt=sse',
  '/v1beta/fileSearchStores/s:importFile',
  '/upload/v1beta/fileSearchStores/s:uploadToFileSearchStore',
  '/download/v1beta/files/f:download',
  '/v1beta/interactions/i',
  '/v1beta/agents',
  '/v1alpha/models/m:generateContent',
  '/model/m/converse-stream',
  '/model/m/invoke-with-response-stream',
  '/model/m/count-tokens',
  '/model-invocation-job',
  '/agents/a/agentAliases/b/sessions/s/text',
  '/anthropic/v1/messages/count_tokens',
  '/anthropic/v1/models',
  '/inference/v1/messages',
  '/inference/v1/responses',
  '/v1/accounts/a/batchInferenceJobs',
  '/v1/fine-tunes',
  '/v1/evaluation',
  '/v1/clusters',
  '/beta/v1/chat/completions',
  '//v1/messages',
  '/v1/./messages',
  '/v1/x/../chat/completions',
  '/v1/%6Dessages',
  '/V1/Messages',
];
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD'];

test('on newer paths, by any method, and behind a token in the address, which may name a provider itself, it is the same', async () => {
  const former = proxy.gateway.keys.snapshot;
  const plain = { keyId: 7, accountId: 1, revoked: false, expiresAtMs: null, usage: null, bodies: null } as const;
  const run = { traceId: 'run-1', spanPath: null, providerAlias: null, metadata: [] } as const;
  const tokens = [null, ...PROVIDER_NAMES].map((provider) => ({ provider, token: createRunToken() }));
  const inAddress = createGatewayKey();
  proxy.gateway.keys.snapshot = createKeySnapshot(9, [
    { ...plain, digest: digestKey(proxy.key) },
    { ...plain, keyId: 8, digest: digestKey(inAddress), allowInAddress: true },
    ...tokens.map(({ provider, token }) => ({ ...plain, digest: digestKey(token), run: { ...run, provider } })),
  ]);
  const trials: Trial[] = [];
  const owners: ProviderName[] = [];
  for (const [row, path] of NEWER_PATHS.entries())
    for (const [index, [owner, credential]] of CREDENTIALS.entries())
      for (const [place, prefix] of ['', `/@${inAddress}`, ...tokens.map(({ token }) => `/@${token}`)].entries()) {
        const at = PLACES[(row + index + place) % PLACES.length];
        const method = METHODS[(row * 5 + index + place) % METHODS.length] ?? 'POST';
        if (at === undefined) continue;
        const { headers, query } = at(credential);
        const joined = path.includes('?') ? query.replace('?', '&') : query;
        trials.push({ method, path: prefix + path + joined, headers });
        owners.push(owner);
      }
  const verdicts = await sendAll(trials);
  proxy.gateway.keys.snapshot = former;
  expect(report('newer paths and tokens', owners, verdicts)).toBe(0);
  expect(verdicts.filter(({ reached: receivers }) => receivers.length === 1).length).toBeGreaterThan(trials.length / 4);
}, 240_000);

const SIGNED =
  'AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20261130/us-east-1/bedrock/aws4_request, SignedHeaders=host;x-amz-date, Signature=' +
  'b'.repeat(64);

test('a signature of AWS beside a key of somebody else goes to neither, and alone to nobody but AWS', async () => {
  const trials: Trial[] = [];
  for (const path of ['/v1/chat/completions', '/v1/messages', '/model/m/converse', '/v1/agents', '/v1beta/models/m:x'])
    for (const named of [null, ...PROVIDER_NAMES])
      for (const [owner, credential] of [[null, ''] as const, ...CREDENTIALS])
        for (const place of ['x-api-key', 'x-goog-api-key', '?key=']) {
          if (owner === 'bedrock') continue;
          const inQuery = place === '?key=' && owner !== null ? `?key=${credential}` : '';
          const headers: Sent = [
            ['authorization', SIGNED],
            ['x-amz-date', '20261130T000000Z'],
            ...(owner === null || inQuery !== '' ? [] : [[place, credential] as const]),
            ...(named === null ? [] : [['X-Gateway-Provider', named] as const]),
          ];
          trials.push({ path: path + inQuery, headers });
        }
  const verdicts = await sendAll(trials);
  const strangers = verdicts.flatMap(({ reached: receivers }, index) =>
    receivers.every((name) => name === 'bedrock' || name === 'anthropic') ? [] : [{ ...trials[index], receivers }],
  );
  expect(strangers.slice(0, 5)).toEqual([]);
}, 240_000);

test.each<[string, Sent, string]>([
  ['as the provider’s key', [['authorization', 'Bearer KEY']], ''],
  ['as Anthropic’s key', [['x-api-key', 'KEY']], ''],
  ['as Google’s key', [['x-goog-api-key', 'KEY']], ''],
  ['in a cookie', [['cookie', 'a=1; gateway=KEY']], ''],
  ['in the query', [], '?key=KEY'],
])('a gateway key %s is sent to no provider', async (_, headers, query) => {
  for (const named of PROVIDER_NAMES) {
    const verdict = await sendOne({
      path: `/v1/chat/completions${query.replace('KEY', proxy.key)}`,
      headers: [
        ...headers.map(([name, value]) => [name, value.replace('KEY', proxy.key)] as const),
        ['X-Gateway-Provider', named],
      ],
    });
    expect(verdict).toEqual({ status: 400, error: 'credential_of_other_provider', reached: [] });
  }
});

test('the error names the place of a gateway key, and not the key', async () => {
  const answer = await fetch(`http://127.0.0.1:${proxy.port}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'X-Gateway-Key': proxy.key, Authorization: `Bearer ${proxy.key}` },
    body: '{}',
  });
  const text = await answer.text();
  expect(text).toContain('authorization holds a token of this gateway');
  expect(text).not.toContain(proxy.key);
});
