/** The tap of a websocket: frames of both sides, compressed or not, broken, and cut anywhere. */
import { deflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { createWebsocketTap } from '../../../src/proxy/websocket/websocket-tap.ts';
import { type Cuts, cutInto, cuts, mutated } from '../bytes.ts';
import { createTarget, type FuzzTarget, must, mustEqual } from '../check.ts';

const MASK = Buffer.from([1, 2, 3, 4]);
const FINAL = 0x80;
const COMPRESSED = 0x40;

function frame(first: number, payload: Buffer, isMasked: boolean): Buffer {
  const length =
    payload.length < 126
      ? Buffer.from([payload.length])
      : Buffer.from([126, payload.length >> 8, payload.length & 255]);
  if (!isMasked) return Buffer.concat([Buffer.from([first]), length, payload]);
  length[0] = (length[0] ?? 0) | 0x80;
  return Buffer.concat([
    Buffer.from([first]),
    length,
    MASK,
    payload.map((byte, index) => byte ^ (MASK[index % 4] ?? 0)),
  ]);
}

/** As `permessage-deflate` has it: without the empty block at the end. */
function deflated(text: string): Buffer {
  const bytes = deflateRawSync(text, { finishFlush: 2 });
  return bytes.subarray(0, bytes.length - 4);
}

function session(isMasked: boolean, isCompressed: boolean): Buffer {
  const text = `{"type":"response.done","text":"${'word '.repeat(40)}"}`;
  const whole = isCompressed
    ? frame(FINAL | COMPRESSED | 1, deflated(text), isMasked)
    : frame(FINAL | 1, Buffer.from(text), isMasked);
  return Buffer.concat([
    whole,
    frame(1, Buffer.from('{"a":'), isMasked),
    frame(FINAL | 9, Buffer.from('ping'), isMasked),
    frame(FINAL, Buffer.from('1}'), isMasked),
    frame(FINAL | 2, Buffer.from([0x7b, 0x7d]), isMasked),
    frame(FINAL | 8, Buffer.from([0x03, 0xe8, 0x62]), isMasked),
  ]);
}

const side = fc.constantFrom(
  ...[true, false].flatMap((isFromClient) => [true, false].map((isCompressed) => ({ isFromClient, isCompressed }))),
);
const exchange = side.chain((of) =>
  fc.record({
    of: fc.constant(of),
    bytes: mutated([session(of.isFromClient, of.isCompressed)], ['\x81', '\xff\xff', '\x88\x00', '\x7f', '\xc1']),
  }),
);

interface Exchange {
  readonly of: { readonly isFromClient: boolean; readonly isCompressed: boolean };
  readonly bytes: Buffer;
}

function read({ of, bytes }: Exchange, pieces: readonly Buffer[]) {
  return new Promise<readonly unknown[]>((resolve, reject) => {
    const seen: unknown[] = [];
    const before = Buffer.from(bytes);
    const tap = createWebsocketTap({
      isFromClient: of.isFromClient,
      extensions: of.isCompressed ? 'permessage-deflate' : null,
      onMessage: (data, isBinary) => seen.push([data.toString('latin1'), isBinary]),
      onClose: (close) => seen.push(close),
      onFlag: (flag) => seen.push(flag),
    });
    for (const piece of pieces) tap.push(piece);
    let ends = 0;
    tap.finish(() => {
      ends += 1;
      if (ends > 1) reject(new Error('the end came twice'));
      if (!bytes.equals(before)) reject(new Error('the bytes are only read'));
      resolve(seen);
    });
  });
}

async function checkTap([given, where]: readonly [Exchange, Cuts]): Promise<void> {
  const whole = await read(given, [given.bytes]);
  const cut = await read(given, cutInto(given.bytes, where));
  // Behind a broken frame nothing is one any more, and what was waiting there may have been read or not; it is flagged.
  const isBroken = [whole, cut].some((seen) => seen.some((one) => typeof one === 'string'));
  const common = isBroken ? Math.min(whole.length, cut.length) - 1 : whole.length;
  must(isBroken || whole.length === cut.length, 'as many messages of the same bytes, cut differently');
  mustEqual(cut.slice(0, common), whole.slice(0, common), 'messages of the same bytes, cut differently');
  must(JSON.stringify(whole).length < 1_000_000, 'no more comes out than can be in it');
}

export const WEBSOCKET_TARGETS: readonly FuzzTarget[] = [
  createTarget('websockets: tap', 0.2, fc.tuple(exchange, cuts), checkTap),
];
