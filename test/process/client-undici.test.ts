/** The package of clients/typescript with each undici that programs have: where its interceptors and redirects lead to. */
import { createServer, type IncomingMessage, type Server } from 'node:http';
import net, { type AddressInfo } from 'node:net';
import * as undici8 from 'undici';
import * as undici6 from 'undici-6';
import * as undici7 from 'undici-7';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { install, run, uninstall } from '../../clients/typescript/src/index.ts';

interface Recorder {
  readonly requests: Pick<IncomingMessage, 'url' | 'headers'>[];
  /** Where requests of a path are sent on to. */
  readonly redirects: Map<string, string>;
  /** Paths that are answered with 503, each once. */
  readonly failures: string[];
  readonly server: Server;
  readonly port: number;
}

async function record(): Promise<Recorder> {
  const requests: Recorder['requests'] = [];
  const redirects = new Map<string, string>();
  const failures: string[] = [];
  const server = createServer((request, response) => {
    requests.push({ url: request.url, headers: request.headers });
    const location = redirects.get(request.url ?? '');
    const failure = failures.indexOf(request.url ?? '');
    if (failure !== -1) failures.splice(failure, 1);
    const status = failure !== -1 ? 503 : location === undefined ? 200 : 307;
    request.resume().on('end', () => {
      response.writeHead(status, location === undefined ? {} : { location }).end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { requests, redirects, failures, server, port };
}

function ours({ headers }: Pick<IncomingMessage, 'headers'>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith('x-gateway-')));
}

const CHAT = 'https://api.openai.com/v1/chat/completions';
const LED = { 'x-gateway-key': 'tgk_test', 'x-gateway-provider': 'openai' };
const POST = { method: 'POST', body: '{}', headers: { authorization: 'Bearer sk-test' } } as const;
/** What the tests ask of each: the types of one version are not those of another. */
interface Undici {
  readonly Agent: new (options: object) => { compose(interceptors: unknown): object };
  readonly Pool: new (origin: string, options: object) => object;
  readonly RetryAgent: new (dispatcher: object) => object;
  readonly interceptors: Readonly<Record<'dns' | 'redirect' | 'retry', (options?: object) => unknown>>;
  setGlobalDispatcher(dispatcher: object): void;
  getGlobalDispatcher(): object;
  request(url: string, options: object): Promise<{ statusCode: number; body: { dump(): Promise<void> } }>;
}
// biome-ignore lint/suspicious/noExplicitAny: see above
const untyped = (undici: any): Undici => undici;
const VERSIONS: readonly (readonly [string, Undici])[] = [
  ['undici 6', untyped(undici6)],
  ['undici 7', untyped(undici7)],
  ['undici 8', untyped(undici8)],
];
const original = undici8.getGlobalDispatcher();

let gateway: Recorder;
let stranger: Recorder;
/** In the place of every provider, without TLS. */
let provider: Recorder;

beforeEach(async () => {
  connections = [];
  [gateway, stranger, provider] = [await record(), await record(), await record()];
});
afterEach(() => {
  uninstall();
  undici8.setGlobalDispatcher(original);
  for (const { server } of [gateway, stranger, provider]) {
    server.close();
    server.closeAllConnections();
  }
});

interface Connecting {
  readonly hostname: string;
  readonly port: string;
  readonly servername?: string | null;
}
let connections: Connecting[] = [];

/** A connector for agents: names lead to the provider, addresses to where they say. */
function connect(asked: Connecting, done: (error: null, socket: net.Socket) => void): void {
  const { hostname, port } = asked;
  connections.push(asked);
  const isName = net.isIP(hostname) === 0;
  const socket = net.connect(isName ? provider.port : Number(port), '127.0.0.1');
  socket.once('connect', () => done(null, socket)).once('error', (error) => Reflect.apply(done, null, [error, null]));
}

function installHere(options: { readonly failOpen?: boolean; readonly url?: string } = {}): void {
  install({ url: `http://127.0.0.1:${gateway.port}/llm`, key: 'tgk_test', ...options });
}

describe.each(VERSIONS)('%s', (name, undici) => {
  /** As programs do it: by the request in undici 6, by an interceptor since. */
  const following = () => {
    const agent = new undici.Agent({ connect });
    return name === 'undici 6' ? agent : agent.compose(undici.interceptors.redirect({ maxRedirections: 3 }));
  };
  const ask = async (url: string) => {
    const options = { ...POST, ...(name === 'undici 6' ? { maxRedirections: 3 } : {}) };
    const { statusCode, body } = await undici.request(url, options);
    await body.dump();
    return statusCode;
  };

  test('a redirect to a stranger takes nothing along', async () => {
    undici.setGlobalDispatcher(following());
    installHere();
    gateway.redirects.set('/llm/v1/chat/completions', `http://127.0.0.1:${stranger.port}/elsewhere`);
    expect(await run('r', { feature: 'x' }, () => ask(CHAT))).toBe(200);
    expect(gateway.requests.map(ours)).toEqual([{ ...LED, 'x-gateway-trace-id': 'r', 'x-gateway-feature': 'x' }]);
    expect(stranger.requests.map((request) => [request.url, ours(request), request.headers.authorization])).toEqual([
      ['/elsewhere', {}, undefined],
    ]);
  });

  test('each redirect of a provider is led by itself, and a relative one is one of the provider', async () => {
    undici.setGlobalDispatcher(following());
    installHere();
    gateway.redirects.set('/llm/v1/chat/completions', '/v2/x');
    gateway.redirects.set('/llm/v2/x', 'https://api.openai.com/v3/x');
    expect(await ask(CHAT)).toBe(200);
    const seen = gateway.requests.map((request) => [request.url, ours(request), request.headers.authorization]);
    expect(seen).toEqual([
      ['/llm/v1/chat/completions', LED, 'Bearer sk-test'],
      ['/llm/v2/x', LED, 'Bearer sk-test'],
      ['/llm/v3/x', LED, 'Bearer sk-test'],
    ]);
  });

  test('each redirect and each retry is in the run of its call, whoever opened the connection', async () => {
    const agent = new undici.Agent({ connect });
    const { retry, redirect } = undici.interceptors;
    const composed = agent.compose([retry({ minTimeout: 1, maxTimeout: 1 }), redirect({ maxRedirections: 3 })]);
    // What undici 6 composes hides what is beneath it.
    undici.setGlobalDispatcher(name === 'undici 6' ? agent : composed);
    installHere();
    await run('first', () => ask('https://api.openai.com/v1/models'));
    gateway.redirects.set('/llm/v1/files', '/v2/files');
    if (name !== 'undici 6') gateway.failures.push('/llm/v2/files');
    const options = { headers: {}, ...(name === 'undici 6' ? { maxRedirections: 3 } : {}) };
    const { statusCode, body } = await run('second', () => undici.request('https://api.openai.com/v1/files', options));
    await body.dump();
    expect(statusCode).toBe(200);
    expect(gateway.requests.map((request) => [request.url, request.headers['x-gateway-trace-id']])).toEqual([
      ['/llm/v1/models', 'first'],
      ['/llm/v1/files', 'second'],
      ['/llm/v2/files', 'second'],
      ...(name === 'undici 6' ? [] : [['/llm/v2/files', 'second']]),
    ]);
  });

  test('a redirect from a stranger to a provider is led', async () => {
    undici.setGlobalDispatcher(following());
    installHere();
    stranger.redirects.set('/here', CHAT);
    expect(await ask(`http://127.0.0.1:${stranger.port}/here`)).toBe(200);
    expect([stranger.requests.map(ours), gateway.requests.map(ours), provider.requests]).toEqual([[{}], [LED], []]);
  });

  test('interceptors that were composed before it do not hide a call', async () => {
    const agent = new undici.Agent({ connect });
    // One call before, as what a dispatcher has set up by then stays with it.
    undici.setGlobalDispatcher(agent.compose(undici.interceptors.retry()));
    expect(await ask(CHAT)).toBe(200);
    installHere();
    expect(await ask(CHAT)).toBe(200);
    expect([provider.requests.map(ours), gateway.requests.map(ours)]).toEqual([[{}], [LED]]);
    uninstall();
    expect(await ask(CHAT)).toBe(200);
    expect([provider.requests.map(ours), gateway.requests.map(ours)]).toEqual([[{}, {}], [LED]]);
  });

  test('a dispatcher that is set after it is taken in at its first request, or by another call', async () => {
    installHere();
    undici.setGlobalDispatcher(following());
    expect([await ask(CHAT), await ask(CHAT)]).toEqual([200, 200]);
    expect([provider.requests.map(ours), gateway.requests.map(ours)]).toEqual([[{}], [LED]]);
    undici.setGlobalDispatcher(following());
    installHere();
    expect(await ask(CHAT)).toBe(200);
    expect([provider.requests.length, gateway.requests.map(ours)]).toEqual([1, [LED, LED]]);
  });

  test('of a class that hides what is beneath it, calls are led, and the redirect is the program’s to follow', async () => {
    const agent = new undici.RetryAgent(following());
    undici.setGlobalDispatcher(agent);
    installHere();
    gateway.redirects.set('/llm/v1/chat/completions', `http://127.0.0.1:${stranger.port}/elsewhere`);
    expect(await ask(CHAT)).toBe(307);
    expect([gateway.requests.map(ours), stranger.requests]).toEqual([[LED], []]);
    uninstall();
    expect(undici.getGlobalDispatcher()).toBe(agent);
  });

  test('a pool for one address gets nothing', async () => {
    undici.setGlobalDispatcher(new undici.Pool('https://api.openai.com', { connect }));
    installHere();
    expect(await ask(CHAT)).toBe(200);
    expect([provider.requests.map(ours), gateway.requests]).toEqual([[{}], []]);
  });

  test('with the gateway away and failOpen, a call goes to the provider once', async () => {
    undici.setGlobalDispatcher(following());
    installHere({ url: 'http://127.0.0.1:9', failOpen: true });
    expect(await ask(CHAT)).toBe(200);
    expect(provider.requests.map((request) => [request.url, ours(request), request.headers.authorization])).toEqual([
      ['/v1/chat/completions', {}, 'Bearer sk-test'],
    ]);
  });

  test('with failOpen, where a redirect leads to is asked once, and the call that was served is not repeated', async () => {
    undici.setGlobalDispatcher(following());
    installHere({ failOpen: true });
    gateway.redirects.set('/llm/v1/chat/completions', 'http://127.0.0.1:9/elsewhere');
    await expect(ask(CHAT)).rejects.toThrow();
    expect([gateway.requests.length, provider.requests]).toEqual([1, []]);
  });
});

describe.each(VERSIONS)('%s, with the dispatcher of another one', (_, undici) => {
  const AWS = 'bedrock-runtime.eu-west-1.amazonaws.com';
  const converse = async () => {
    const { statusCode, body } = await undici.request(`https://${AWS}/model/m/converse`, POST);
    await body.dump();
    return statusCode;
  };

  test('the host of AWS stays, and TLS is with the gateway', async () => {
    undici8.setGlobalDispatcher(new undici8.Agent({ connect }));
    installHere();
    expect(await converse()).toBe(200);
    expect(gateway.requests.map(({ headers }) => headers.host)).toEqual([AWS]);
    installHere({ url: 'https://gateway.example/' });
    expect(await converse()).toBe(200);
    expect(connections.at(-1)).toMatchObject({ hostname: 'gateway.example', servername: 'gateway.example' });
  });

  test('with the gateway away and failOpen, it is tried once', async () => {
    undici8.setGlobalDispatcher(new undici8.Agent({ connect }));
    installHere({ url: 'http://127.0.0.1:9', failOpen: true });
    expect(await converse()).toBe(200);
    expect(connections.map(({ hostname }) => hostname)).toEqual(['127.0.0.1', AWS]);
    connections = [];
    await expect(undici.request('http://127.0.0.1:9/v1/messages', POST)).rejects.toThrow();
    expect(connections).toHaveLength(1);
  });
});

/** Those that have such an interceptor. */
describe.each(VERSIONS.slice(1))('%s', (_, undici) => {
  test('a name that an interceptor looked up is led as that name', async () => {
    const lookup = (_origin: unknown, _options: unknown, done: (error: null, found: readonly object[]) => void) =>
      done(null, [{ address: '127.0.0.2', ttl: 1_000, family: 4 }]);
    undici.setGlobalDispatcher(new undici.Agent({ connect }).compose(undici.interceptors.dns({ lookup })));
    installHere();
    const { statusCode, body } = await undici.request(CHAT, POST);
    await body.dump();
    expect([statusCode, gateway.requests.map(ours), gateway.requests[0]?.headers.host]).toEqual([
      200,
      [LED],
      `127.0.0.1:${gateway.port}`,
    ]);
  });
});

test('Node’s own fetch is led through a dispatcher of npm’s, composed or not, each redirect by itself', async () => {
  undici8.setGlobalDispatcher(new undici8.Agent({ connect }).compose(undici8.interceptors.retry()));
  installHere();
  gateway.redirects.set('/llm/v1/chat/completions', '/v2/x');
  gateway.redirects.set('/llm/v2/x', `http://127.0.0.1:${stranger.port}/elsewhere`);
  const answer = await fetch(CHAT, POST);
  expect([answer.status, answer.url]).toEqual([200, `http://127.0.0.1:${stranger.port}/elsewhere`]);
  expect(gateway.requests.map((request) => [request.url, ours(request)])).toEqual([
    ['/llm/v1/chat/completions', LED],
    ['/llm/v2/x', LED],
  ]);
  expect(stranger.requests.map(ours)).toEqual([{}]);
});
