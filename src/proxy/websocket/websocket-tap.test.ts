import { deflateRawSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { createWebsocketTap } from './websocket-tap.ts';

/** A compressed text message of a client, masked with zeros. */
function compressedFrame(text: string): Buffer {
  const bytes = deflateRawSync(text, { finishFlush: 2 });
  const payload = bytes.subarray(0, bytes.length - 4);
  return Buffer.concat([Buffer.from([0xc1, 0x80 | payload.length, 0, 0, 0, 0]), payload]);
}

test('behind a broken frame nothing is read, also of what came while the message before was decompressed', async () => {
  const rest = Buffer.from([0x81, 0x82, 0, 0, 0, 0, 0x7b, 0x7d]);
  for (const broken of [
    [0xff, 0xff],
    [0x81, 0x02],
    [0x83, 0x80],
    [0x81, 0x7e],
    [0x80, 0x85],
  ]) {
    const seen: unknown[] = [];
    const tap = createWebsocketTap({
      isFromClient: true,
      extensions: 'permessage-deflate',
      onMessage: (data) => seen.push(data.toString()),
      onClose: (close) => seen.push(close),
      onFlag: (flag) => seen.push(flag),
    });
    for (const piece of [compressedFrame('{"a":1}'), Buffer.from(broken), rest, rest]) tap.push(piece);
    await new Promise<void>((resolve) => tap.finish(resolve));
    expect(seen).toEqual(['{"a":1}', 'undecodable']);
  }
});
