import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { StalledSockets } from '../../src/sockets/stalled-sockets.ts';

const open: { destroy(): unknown }[] = [];
afterEach(() => {
  for (const one of open.splice(0)) one.destroy();
});

/** Both ends of a connection whose far end does not read until it is told to. */
async function openPair(): Promise<{ near: Socket; far: Socket }> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port }: AddressInfo = Object(server.address());
  const far = connect({ port, host: '127.0.0.1' });
  const [near]: Socket[] = await once(server, 'connection');
  if (near === undefined) throw new Error('no connection');
  near.on('error', () => {});
  far.on('error', () => {});
  server.close();
  open.push(near, far);
  return { near, far };
}

test('a connection whose other end takes nothing of what waits is cut; one that is idle, or never done, is not', async () => {
  const unread = new StalledSockets(1_000, 20);
  const [stalled, idle, busy] = [await openPair(), await openPair(), await openPair()];
  for (const { near } of [stalled, idle, busy]) unread.add(near);
  for (let piece = 0; piece < 400; piece += 1) stalled.near.write(Buffer.alloc(64 * 1024));
  // There is always something that waits.
  const pour = (): void => {
    while (busy.near.write(Buffer.alloc(64 * 1024)));
  };
  busy.near.on('drain', () => setTimeout(pour, 5));
  busy.far.resume();
  pour();
  await once(stalled.near, 'close');
  unread.close();
  expect([idle.near.destroyed, busy.near.destroyed]).toEqual([false, false]);
});
