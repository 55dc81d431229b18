import { constants, deflateRawSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { BodyCopy } from '../body-copy.ts';
import { createByteBudget } from '../byte-budget.ts';
import { createWebsocketMeter } from './websocket-meter.ts';

const CODE_1011 = [0x03, 0xf3];
const CLIENT_CLOSE = Buffer.from([0x88, 0x82, 0, 0, 0, 0, ...CODE_1011]);
const PROVIDER_CLOSE = Buffer.from([0x88, 0x02, ...CODE_1011]);

/** A message of the provider's that is still being decompressed when the next bytes come. */
const COMPRESSED = ((): Buffer => {
  const bytes = deflateRawSync('{"type":"response.created"}', { finishFlush: constants.Z_SYNC_FLUSH });
  return Buffer.concat([Buffer.from([0xc1, bytes.length - 4]), bytes.subarray(0, -4)]);
})();

function openMeter() {
  const copies = createByteBudget(1024 * 1024);
  return createWebsocketMeter({
    session: 'realtime',
    extensions: 'permessage-deflate',
    keepsTranscript: false,
    arrivedMs: 0,
    requestCopy: new BodyCopy(copies),
    responseCopy: new BodyCopy(copies),
    createCopy: () => new BodyCopy(copies),
    noteArrival: () => ({ id: 'a', requestedAtMs: 0, monotonicMs: 0, wallMs: 0, isClockCorrected: false }),
    openTurn: () => ({ checkpoint: () => {}, end: () => Promise.resolve() }),
    checkpoint: () => {},
  });
}

test('who closed first is told by what came first, however long its messages take to be decompressed', async () => {
  const refused = openMeter();
  void refused.fromProvider(Buffer.concat([COMPRESSED, PROVIDER_CLOSE]));
  refused.fromClient(CLIENT_CLOSE);
  await refused.finish();
  expect(refused.refusedWith).toEqual({ code: 1011, reason: '' });

  const left = openMeter();
  left.fromClient(CLIENT_CLOSE);
  void left.fromProvider(Buffer.concat([COMPRESSED, PROVIDER_CLOSE]));
  await left.finish();
  expect(left.refusedWith).toBeNull();
});
