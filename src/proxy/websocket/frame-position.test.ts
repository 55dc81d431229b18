import { expect, test } from 'vitest';
import { FramePosition, writeCloseFrame } from './frame-position.ts';

/** A frame's head for so long a payload, then the payload. */
function frame(length: number, isMasked = false): Buffer {
  const size = Buffer.alloc(length < 126 ? 1 : length < 65_536 ? 3 : 9);
  if (length < 126) size[0] = length;
  else if (length < 65_536) {
    size[0] = 126;
    size.writeUInt16BE(length, 1);
  } else {
    size[0] = 127;
    size.writeBigUInt64BE(BigInt(length), 1);
  }
  if (isMasked) size[0] = (size[0] ?? 0) | 0x80;
  return Buffer.concat([Buffer.from([0x81]), size, Buffer.alloc((isMasked ? 4 : 0) + length, 'x')]);
}

test.each([0, 1, 125, 126, 127, 65_535, 65_536, 70_000])(
  'it is between two frames behind one of %i bytes, and nowhere within it, however it is cut',
  (length) => {
    for (const isMasked of [false, true]) {
      const bytes = frame(length, isMasked);
      for (const cut of [1, 2, 3, 4, 9, 10, 13, 14, bytes.length - 1].filter((at) => at < bytes.length)) {
        const position = new FramePosition();
        position.advance(bytes.subarray(0, cut));
        expect(position.isBetweenFrames).toBe(false);
        expect(position.finishFrame(Buffer.concat([bytes.subarray(cut), frame(5)]))).toBe(bytes.length - cut);
        expect(position.isBetweenFrames).toBe(true);
      }
    }
  },
);

test('between two frames nothing has to be finished', () => {
  const position = new FramePosition();
  position.advance(Buffer.concat([frame(3), frame(200), frame(0)]));
  expect(position.isBetweenFrames).toBe(true);
  expect(position.finishFrame(frame(3))).toBe(0);
});

test('a close frame has its code and its reason', () => {
  expect(writeCloseFrame(1008, 'no').toString('hex')).toBe('880403f06e6f');
});
