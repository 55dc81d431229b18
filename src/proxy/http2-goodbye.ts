/**
 * What a client that opens HTTP/2 by prior knowledge is told: an empty SETTINGS frame and a GOAWAY with the code
 * HTTP_1_1_REQUIRED (RFC 9113 7) and a sentence, which HTTP/2 clients show in their error.
 */
const TEXT = Buffer.from(
  'This port speaks HTTP/1.1; for the AWS SDK for JavaScript pass requestHandler: new NodeHttpHandler().',
);
const FRAME_HEADER_BYTES = 9;
const GOAWAY = 7;
const SETTINGS = 4;
const HTTP_1_1_REQUIRED = 0xd;

function frame(type: number, payload: Buffer): Buffer {
  const header = Buffer.alloc(FRAME_HEADER_BYTES);
  header.writeUIntBE(payload.length, 0, 3);
  header.writeUInt8(type, 3);
  return Buffer.concat([header, payload]);
}

function goAwayPayload(): Buffer {
  const fixed = Buffer.alloc(8);
  fixed.writeUInt32BE(HTTP_1_1_REQUIRED, 4);
  return Buffer.concat([fixed, TEXT]);
}

export const HTTP2_GOODBYE: Buffer = Buffer.concat([frame(SETTINGS, Buffer.alloc(0)), frame(GOAWAY, goAwayPayload())]);
