import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import {
  ADMIN_LIMITS,
  type AdminLimits,
  type AdminServer,
  limitAdmin,
  listenAdmin,
} from '../../src/control/admin/admin-server.ts';
import { readPeer } from '../../src/control/admin/peer.ts';
import { createTrustedPeers } from '../../src/sockets/trusted-peers.ts';

let server: AdminServer;
let closedFrom: readonly string[] = [];
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await server.close();
});

/** Not `once`, for which a reset is a failure. */
function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    if (socket.closed) resolve();
    else socket.once('close', () => resolve());
  });
}

/** Answers 401 without reading; at `/read` with the length of the body; at `/prove` the client has a credential. */
async function start(limits: Partial<AdminLimits>, trusted: readonly string[] = []): Promise<void> {
  const fetch = async (request: Request, bindings?: object): Promise<Response> => {
    const { pathname } = new URL(request.url);
    if (pathname === '/prove') {
      readPeer(bindings).prove();
      return new Response('proven');
    }
    if (pathname === '/who') {
      const { client, isTls } = readPeer(bindings);
      return new Response(`${client} ${isTls}`);
    }
    if (pathname !== '/read') return new Response('no', { status: 401 });
    return new Response(String((await request.arrayBuffer()).byteLength));
  };
  const noted: string[] = [];
  closedFrom = noted;
  server = await listenAdmin({ fetch }, '127.0.0.1', 0, {
    limits: { ...ADMIN_LIMITS, checkIntervalMs: 20, ...limits },
    trusted: createTrustedPeers(trusted),
    onClosedConnection: (client) => noted.push(client),
  });
}

function open(text = ''): { readonly socket: Socket; readonly answer: () => string } {
  const socket = connect({ port: server.port, host: '127.0.0.1' });
  let answer = '';
  socket.on('error', () => {});
  socket.on('data', (chunk: Buffer) => {
    answer += chunk.toString('latin1');
  });
  socket.write(text, 'latin1');
  sockets.push(socket);
  return { socket, answer: () => answer };
}

function post(path: string, length: number): string {
  return `POST ${path} HTTP/1.1\r\nHost: g\r\nContent-Length: ${length}\r\n\r\n`;
}

const SLOW = { graceMs: 150, bytesPerSecond: 5_000, answeredMs: 100, intervalMs: 20 };

test('a head that does not come to its end is answered 408 and cut', async () => {
  await start({ headersTimeoutMs: 100 });
  const { socket, answer } = open('GET /read HTTP/1.1\r\nHost: g\r\nX-Slo');
  await closed(socket);
  expect(answer()).toMatch(/^HTTP\/1\.1 408 /);
});

test('a body that comes by the drop is cut, one that keeps its pace is not', async () => {
  await start({ slowRequests: SLOW });
  const slow = open(post('/read', 1_000_000));
  const steady = open(post('/read', 12_000));
  const drop = setInterval(() => {
    if (!slow.socket.destroyed) slow.socket.write('x');
  }, 10);
  for (let piece = 0; piece < 12; piece += 1) {
    steady.socket.write('x'.repeat(1_000));
    await sleep(40);
  }
  await closed(slow.socket);
  clearInterval(drop);
  expect(slow.answer()).toBe('');
  while (steady.answer() === '') await sleep(5);
  expect(steady.answer()).toMatch(/^HTTP\/1\.1 200 [\s\S]*\r\n\r\n12000$/);
});

test('who goes on sending a body after the answer is cut, whatever its pace', async () => {
  await start({ slowRequests: { ...SLOW, bytesPerSecond: 0 } });
  const { socket, answer } = open(post('/refused', 1_000_000));
  const drop = setInterval(() => {
    if (!socket.destroyed) socket.write('x');
  }, 10);
  await closed(socket);
  clearInterval(drop);
  expect(answer()).toMatch(/^HTTP\/1\.1 401 /);
});

test('connections beyond the limit are closed at once, and a head beyond its limit is answered 431', async () => {
  await start({ maxConnections: 1 });
  const first = open(`GET /read HTTP/1.1\r\nHost: g\r\nX-Long: ${'x'.repeat(17 * 1024)}\r\n\r\n`);
  const second = open('GET /read HTTP/1.1\r\nHost: g\r\n\r\n');
  await closed(second.socket);
  expect(second.answer()).toBe('');
  await closed(first.socket);
  expect(first.answer()).toMatch(/^HTTP\/1\.1 431 /);
  const third = open('GET /read HTTP/1.1\r\nHost: g\r\nConnection: close\r\n\r\n');
  await closed(third.socket);
  expect(third.answer()).toMatch(/^HTTP\/1\.1 200 /);
});

test('connections leave files for what stores the records, where few may be open', () => {
  const of = (files: number | null) => {
    const { maxConnections, places } = limitAdmin(files);
    return [maxConnections, places.proven, places.unproven, places.unprovenPerClient];
  };
  expect([of(256), of(1_024), of(null)]).toEqual([
    [64, 17, 12, 8],
    [448, 119, 89, 59],
    [960, 256, 192, 128],
  ]);
});

/** Opens as many as given, and opens each again as soon as it is closed, without a word. */
function holdSilent(count: number): { readonly reopened: () => number; readonly stop: () => void } {
  let isStopped = false;
  let reopened = 0;
  const hold = (): void => {
    const { socket } = open();
    socket.once('close', () => {
      if (isStopped) return;
      reopened += 1;
      hold();
    });
  };
  for (let index = 0; index < count; index += 1) hold();
  return {
    reopened: () => reopened,
    stop: () => {
      isStopped = true;
    },
  };
}

test('who holds connections in silence, and opens them again when they are closed, keeps nobody out', async () => {
  await start({ places: { proven: 4, unproven: 16, unprovenPerClient: 8 } });
  const silent = holdSilent(40);
  while (silent.reopened() < 100) await sleep(5);
  for (let round = 0; round < 20; round += 1) {
    const { socket, answer } = open('GET /read HTTP/1.1\r\nHost: g\r\nConnection: close\r\n\r\n');
    await closed(socket);
    expect(answer()).toMatch(/^HTTP\/1\.1 200 /);
  }
  silent.stop();
});

test('a connection that has shown a credential keeps its place, those that have not give way to newer ones', async () => {
  await start({ places: { proven: 1, unproven: 2, unprovenPerClient: 2 } });
  const keep = async (path: string) => {
    const one = open(`GET ${path} HTTP/1.1\r\nHost: g\r\n\r\n`);
    while (one.answer() === '') await sleep(5);
    return one.socket;
  };
  const [proven, beyond, first, second, third] = [
    await keep('/prove'),
    await keep('/prove'),
    await keep('/read'),
    await keep('/read'),
    await keep('/read'),
  ];
  await Promise.all([closed(beyond), closed(first)]);
  expect([proven, second, third].map((socket) => socket.closed)).toEqual([false, false, false]);
  expect(closedFrom).toEqual(['127.0.0.1', '127.0.0.1']);
});

/** One request on a connection that stays open, as a proxy in front sends it. */
async function ask(path: string, client: string, more = '') {
  const one = open(`GET ${path} HTTP/1.1\r\nHost: g\r\nX-Forwarded-For: ${client}\r\n${more}\r\n`);
  while (one.answer() === '') await sleep(5);
  return { socket: one.socket, body: one.answer().split('\r\n\r\n')[1] };
}

test('the client is whom a trusted proxy has seen, and it came by TLS when that one says so', async () => {
  await start({}, ['127.0.0.0/8']);
  expect((await ask('/who', '198.51.100.1, 203.0.113.9', 'X-Forwarded-Proto: https\r\n')).body).toBe(
    '203.0.113.9 true',
  );
  expect((await ask('/who', '203.0.113.9')).body).toBe('203.0.113.9 false');
  await server.close();
  await start({});
  expect((await ask('/who', '203.0.113.9', 'X-Forwarded-Proto: https\r\n')).body).toBe('127.0.0.1 false');
});

test('behind a trusted proxy the places are counted by client, so that one of them takes nobody else’s', async () => {
  await start({ places: { proven: 4, unproven: 6, unprovenPerClient: 2 } }, ['127.0.0.1/32']);
  const greedy = [];
  const other = await ask('/read', '203.0.113.7');
  for (let index = 0; index < 5; index += 1) greedy.push(await ask('/read', '203.0.113.9'));
  const late = await ask('/read', '203.0.113.8');
  await Promise.all(greedy.slice(0, 3).map(({ socket }) => closed(socket)));
  expect([other, late, ...greedy.slice(3)].map(({ socket }) => socket.closed)).toEqual([false, false, false, false]);
  expect(closedFrom).toEqual(['203.0.113.9', '203.0.113.9', '203.0.113.9']);
});

test('on a proxy’s connection one client’s credential gives the next client no place', async () => {
  await start({ places: { proven: 4, unproven: 4, unprovenPerClient: 1 } }, ['127.0.0.1/32']);
  const shared = await ask('/prove', '203.0.113.7');
  const others = [await ask('/read', '203.0.113.9')];
  expect(shared.socket.closed).toBe(false);
  // The same connection, for another client, which holds one already.
  shared.socket.write('GET /read HTTP/1.1\r\nHost: g\r\nX-Forwarded-For: 203.0.113.9\r\n\r\n');
  others.push(await ask('/read', '203.0.113.8'));
  await Promise.race([closed(shared.socket), ...others.map(({ socket }) => closed(socket))]);
  expect(closedFrom).toEqual(['203.0.113.9']);
});
