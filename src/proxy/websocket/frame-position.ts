/**
 * Where one direction of a websocket stands: within a frame, or between two, where a frame of ours may be put in
 * without breaking the stream. It counts bytes by the frames' heads (RFC 6455 5.2) and reads nothing else.
 */

const MASK_BYTES = 4;
const LENGTH_16 = 126;
const LENGTH_64 = 127;

/** Bytes of the head that begins so; 2 until the second byte is there. */
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
  /** Of the frame whose head is being read. */
  #head: number[] = [];
  /** Of the frame whose payload is passing. */
  #payloadLeft = 0;

  get isBetweenFrames(): boolean {
    return this.#head.length === 0 && this.#payloadLeft === 0;
  }

  /** The bytes as they pass. */
  advance(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length; ) at += this.#take(chunk, at);
  }

  /** As far as the frame that is under way goes: how many of these bytes belong to it. */
  finishFrame(chunk: Uint8Array): number {
    let at = 0;
    while (at < chunk.length && !this.isBetweenFrames) at += this.#take(chunk, at);
    return at;
  }

  /** A byte of a head, or what there is of a payload. */
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

/** A close frame as a server sends it (RFC 6455 5.5.1). The reason must be short: a control frame has 125 bytes. */
export function writeCloseFrame(code: number, reason: string): Buffer {
  const text = Buffer.from(reason);
  const payload = Buffer.concat([Buffer.from([code >> 8, code & 0xff]), text]);
  return Buffer.concat([Buffer.from([0x88, payload.length]), payload]);
}
