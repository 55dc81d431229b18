/** Tracks from frame heads (RFC 6455 5.2) whether a direction of a websocket is between two frames. */

const MASK_BYTES = 4;
const LENGTH_16 = 126;
const LENGTH_64 = 127;

/** Length of the head that begins so; 2 until the second byte is known. */
function headBytes(head: readonly number[]): number {
  const [, second] = head;
  if (second === undefined) return 2;
  const length = second & 0x7f;
  const lengthBytes = length === LENGTH_64 ? 8 : length === LENGTH_16 ? 2 : 0;
  return 2 + lengthBytes + ((second & 0x80) === 0 ? 0 : MASK_BYTES);
}

function payloadBytes(head: readonly number[]): number {
  const length = (head[1] ?? 0) & 0x7f;
  if (length < LENGTH_16) return length;
  const lengthBytes = length === LENGTH_64 ? 8 : 2;
  return head.slice(2, 2 + lengthBytes).reduce((sum, byte) => sum * 256 + byte, 0);
}

export class FramePosition {
  /** The frame head read so far. */
  #head: number[] = [];
  #payloadLeft = 0;

  get isBetweenFrames(): boolean {
    return this.#head.length === 0 && this.#payloadLeft === 0;
  }

  advance(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length; ) at += this.#take(chunk, at);
  }

  /** Returns how many of these bytes belong to the current frame. */
  finishFrame(chunk: Uint8Array): number {
    let at = 0;
    while (at < chunk.length && !this.isBetweenFrames) at += this.#take(chunk, at);
    return at;
  }

  #take(chunk: Uint8Array, at: number): number {
    if (this.#payloadLeft > 0) {
      const taken = Math.min(this.#payloadLeft, chunk.length - at);
      this.#payloadLeft -= taken;
      return taken;
    }
    this.#head.push(chunk[at] ?? 0);
    if (this.#head.length === headBytes(this.#head)) {
      this.#payloadLeft = payloadBytes(this.#head);
      this.#head = [];
    }
    return 1;
  }
}

/** A server's close frame (RFC 6455 5.5.1). The reason must fit a control frame of 125 bytes. */
export function writeCloseFrame(code: number, reason: string): Buffer {
  const text = Buffer.from(reason);
  const payload = Buffer.concat([Buffer.from([code >> 8, code & 0xff]), text]);
  return Buffer.concat([Buffer.from([0x88, payload.length]), payload]);
}

/** A server's text frame, whole. */
export function writeTextFrame(text: string): Buffer {
  const payload = Buffer.from(text);
  if (payload.length < LENGTH_16) return Buffer.concat([Buffer.from([0x81, payload.length]), payload]);
  const head = Buffer.from([0x81, LENGTH_16, 0, 0]);
  // A refusal's words are far from 64 KiB.
  head.writeUInt16BE(payload.length, 2);
  return Buffer.concat([head, payload]);
}
