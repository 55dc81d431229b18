/**
 * What a client that opens HTTP/2 by prior knowledge is told: its first request is answered with the usual refusal, in
 * the few frames that this takes (RFC 9113), so that an SDK shows the message. It is not an HTTP/2 server.
 */
import type { Duplex } from 'node:stream';
import { v7 as uuidv7 } from 'uuid';
import { GATEWAY_ERRORS } from '../errors.ts';
import { refusalBody, refusalHeaders } from './refuse.ts';

const FRAME_HEADER_BYTES = 9;
const DATA = 0;
const HEADERS = 1;
const SETTINGS = 4;
const GOAWAY = 7;
const END_STREAM = 0x1;
const END_HEADERS = 0x4;
const ACK = 0x1;
const NO_ERROR = 0;
const HTTP_1_1_REQUIRED = 0xd;
/** HPACK (RFC 7541): a literal without indexing, with a new name, or with the name `:status` of the static table. */
const LITERAL = 0x00;
const LITERAL_STATUS = 0x08;
/** Of a client that sends no request, and of one that does not close after its answer. */
const WAIT_MS = 1_000;
const MAX_BYTES_BEFORE_REQUEST = 64 * 1024;

function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const header = Buffer.alloc(FRAME_HEADER_BYTES);
  header.writeUIntBE(payload.length, 0, 3);
  header.writeUInt8(type, 3);
  header.writeUInt8(flags, 4);
  header.writeUInt32BE(stream, 5);
  return Buffer.concat([header, payload]);
}

/** A string in HPACK, not Huffman coded. Ours are shorter than 16 KiB, the most that this writes. */
function packString(text: string): Buffer {
  const bytes = Buffer.from(text);
  const rest = bytes.length - 0x7f;
  const length = rest < 0 ? [bytes.length] : rest < 0x80 ? [0x7f, rest] : [0x7f, (rest & 0x7f) | 0x80, rest >> 7];
  return Buffer.concat([Buffer.from(length), bytes]);
}

function goAway(lastStream: number, code: number): Buffer {
  const fixed = Buffer.alloc(8);
  fixed.writeUInt32BE(lastStream, 0);
  fixed.writeUInt32BE(code, 4);
  return frame(GOAWAY, 0, 0, Buffer.concat([fixed, Buffer.from(GATEWAY_ERRORS.http2_unsupported.message)]));
}

function refusal(stream: number): Buffer {
  const id = uuidv7();
  const body = Buffer.from(refusalBody('http2_unsupported', id));
  const headers = refusalHeaders('http2_unsupported', id, body.length);
  const block = [Buffer.from([LITERAL_STATUS]), packString(String(GATEWAY_ERRORS.http2_unsupported.status))];
  for (let index = 0; index + 1 < headers.length; index += 2) {
    block.push(Buffer.from([LITERAL]), packString(String(headers[index]).toLowerCase()));
    block.push(packString(String(headers[index + 1])));
  }
  return Buffer.concat([
    frame(SETTINGS, ACK, 0, Buffer.alloc(0)),
    frame(HEADERS, END_HEADERS, stream, Buffer.concat(block)),
    frame(DATA, END_STREAM, stream, body),
    goAway(stream, NO_ERROR),
  ]);
}

/** `start` is what came behind the client's preface. The answer may only follow the frame that opens its stream. */
export function refuseHttp2(socket: Duplex, start: Buffer): void {
  let unread: Buffer = Buffer.alloc(0);
  let isAnswered = false;

  function finish(bytes: Buffer): void {
    isAnswered = true;
    clearTimeout(deadline);
    socket.end(bytes);
    const force = setTimeout(() => socket.destroy(), WAIT_MS);
    socket.once('close', () => clearTimeout(force));
  }

  function read(bytes: Buffer): void {
    if (isAnswered) return; // The rest of the request is dropped, not left unread: a reset would destroy the answer.
    unread = Buffer.concat([unread, bytes]);
    const found = findRequest(unread);
    if (found.kind === 'request') finish(refusal(found.stream));
    else if (unread.length - found.from > MAX_BYTES_BEFORE_REQUEST) finish(goAway(0, HTTP_1_1_REQUIRED));
    else unread = unread.subarray(found.from);
  }

  const deadline = setTimeout(() => finish(goAway(0, HTTP_1_1_REQUIRED)), WAIT_MS);
  socket.once('close', () => clearTimeout(deadline));
  socket.write(frame(SETTINGS, 0, 0, Buffer.alloc(0)));
  socket.on('data', read);
  read(start);
}

/** The first frame that opens a stream; else where the first frame that is not whole begins. */
function findRequest(bytes: Buffer): { kind: 'request'; stream: number } | { kind: 'none'; from: number } {
  let from = 0;
  while (bytes.length >= from + FRAME_HEADER_BYTES) {
    if (bytes.readUInt8(from + 3) === HEADERS) return { kind: 'request', stream: bytes.readUInt32BE(from + 5) };
    const end = from + FRAME_HEADER_BYTES + bytes.readUIntBE(from, 3);
    if (end > bytes.length) break;
    from = end;
  }
  return { kind: 'none', from };
}
