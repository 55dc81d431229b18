/** Reads `application/vnd.amazon.eventstream` frames; a frame with a wrong checksum is reported, not returned. */
import { crc32 } from 'node:zlib';
import { EventStreamCodec } from '@smithy/eventstream-codec';
import { createGatheredBytes } from './gathered-bytes.ts';

/** A larger frame is skipped (the format allows 16 MiB of payload). */
export const MAX_FRAME_BYTES = 4 * 1024 * 1024;
/** A larger length is not believed. */
const LARGEST_LENGTH = 32 * 1024 * 1024;
const SMALLEST_LENGTH = 16;
/** Total length, headers length, and the checksum of both; 4 bytes each. */
const PRELUDE_BYTES = 12;

export interface AwsFrame {
  readonly messageType: string | null;
  /** `:event-type`, `:exception-type` or `:error-code`, whichever the frame has. */
  readonly type: string | null;
  readonly errorMessage: string | null;
  readonly payload: Buffer;
}

export type FrameProblem = 'undecodable' | 'too-large';

export interface AwsEventStreamDecoder {
  readonly push: (chunk: Buffer) => void;
  readonly bufferedBytes: number;
}

export function createAwsEventStreamDecoder(
  onFrame: (frame: AwsFrame) => void,
  onProblem: (problem: FrameProblem) => void,
): AwsEventStreamDecoder {
  const codec = new EventStreamCodec(
    (bytes) => (typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString('utf8')),
    (text) => Buffer.from(text, 'utf8'),
  );
  // Mutable because frames arrive in pieces.
  const pending = createGatheredBytes();
  /** Pieces are joined once there are this many bytes. */
  let neededBytes = 0;
  let skipBytes = 0;
  let lost = false;

  function headerText(headers: ReturnType<EventStreamCodec['decode']>['headers'], name: string): string | null {
    const header = headers[name];
    return header?.type === 'string' ? header.value : null;
  }

  function readFrame(bytes: Buffer): void {
    let message: ReturnType<EventStreamCodec['decode']>;
    try {
      message = codec.decode(bytes);
    } catch {
      onProblem('undecodable');
      return;
    }
    const { headers, body } = message;
    onFrame({
      messageType: headerText(headers, ':message-type'),
      type:
        headerText(headers, ':event-type') ??
        headerText(headers, ':exception-type') ??
        headerText(headers, ':error-code'),
      errorMessage: headerText(headers, ':error-message'),
      payload: Buffer.from(body.buffer, body.byteOffset, body.byteLength),
    });
  }

  function readAll(bytes: Buffer): void {
    let pos = 0;
    while (bytes.length - pos >= PRELUDE_BYTES) {
      const length = bytes.readUInt32BE(pos);
      const trusted =
        length >= SMALLEST_LENGTH &&
        length <= LARGEST_LENGTH &&
        crc32(bytes.subarray(pos, pos + 8)) === bytes.readUInt32BE(pos + 8);
      if (!trusted) {
        // Without a valid length the next frame cannot be found.
        lost = true;
        onProblem('undecodable');
        return;
      }
      if (length > MAX_FRAME_BYTES) {
        onProblem('too-large');
        const present = Math.min(length, bytes.length - pos);
        skipBytes = length - present;
        pos += present;
        continue;
      }
      neededBytes = length;
      if (bytes.length - pos < length) break;
      readFrame(bytes.subarray(pos, pos + length));
      pos += length;
    }
    if (bytes.length - pos < PRELUDE_BYTES) neededBytes = PRELUDE_BYTES;
    pending.push(bytes.subarray(pos));
  }

  function push(chunk: Buffer): void {
    if (lost) return;
    const skipped = Math.min(skipBytes, chunk.length);
    skipBytes -= skipped;
    const rest = skipped === 0 ? chunk : chunk.subarray(skipped);
    if (rest.length === 0) return;
    if (pending.length > 0 && pending.length + rest.length < neededBytes) pending.push(rest);
    else readAll(pending.take(rest) ?? rest);
  }

  return {
    push,
    get bufferedBytes() {
      return pending.length;
    },
  };
}
