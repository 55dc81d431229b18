import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { IdleConnections } from './idle-connections.ts';

/** More than the system takes for a client that reads nothing. */
const LARGE = Buffer.alloc(32 * 1024 * 1024, 'y');
const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';

const latest = new WeakMap<Duplex, ServerResponse>();
const connections = new IdleConnections(latest);
const server = createServer((incoming, outgoing) => {
  latest.set(incoming.socket, outgoing);
  outgoing.end(incoming.url === '/large' ? LARGE : 'small');
});
server.on('connection', (socket) => connections.add(socket));

beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

async function open(): Promise<Socket> {
  const accepted = once(server, 'connection');
  const socket = connect(Object(server.address()).port, '127.0.0.1');
  socket.on('error', () => {}); // `close` follows.
  await accepted;
  return socket;
}

async function closeThrice(): Promise<void> {
  for (let round = 0; round < 3; round += 1) {
    connections.close();
    await sleep(20);
  }
}

test('an answer that has ended and waits for its client is not cut; once it is taken, the connection is closed', async () => {
  const socket = await open();
  socket.write(GET.replace('/', '/large'));
  await once(socket, 'readable');
  await closeThrice();
  let taken = 0;
  socket.on('data', (chunk: Buffer) => {
    taken += chunk.length;
  });
  const closed = once(socket, 'close');
  while (taken < LARGE.length && !socket.destroyed) await sleep(5);
  expect(taken).toBeGreaterThan(LARGE.length);
  await closeThrice();
  await closed;
});

test('a connection between two requests is closed', async () => {
  const socket = await open();
  socket.write(GET);
  await once(socket, 'data');
  const closed = once(socket, 'close');
  await closeThrice();
  await closed;
});

test('a request that has begun to come, or may be about to, keeps its connection', async () => {
  const [fresh, second] = [await open(), await open()];
  second.write(GET);
  await once(second, 'data');
  connections.close();
  second.write(GET.slice(0, 20));
  await sleep(20);
  await closeThrice();
  for (const [socket, rest] of [[fresh, GET] as const, [second, GET.slice(20)] as const]) {
    socket.write(rest);
    const [answer] = await once(socket, 'data');
    expect(String(answer)).toContain('small');
    socket.destroy();
  }
});

test('a connection that speaks another protocol by now is left alone', async () => {
  const accepted = once(server, 'connection');
  const socket = await open();
  const [inner] = await accepted;
  socket.write(GET);
  await once(socket, 'data');
  connections.forget(inner);
  await closeThrice();
  expect(inner.destroyed).toBe(false);
  socket.destroy();
});
