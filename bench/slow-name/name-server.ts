/** A name server that knows every name under `.test` as 127.0.0.1, and answers those that begin with `slow` late. */
import { createSocket } from 'node:dgram';

const HEADER_BYTES = 12;
const TYPE_A = 1;

/** The labels of the first question, and the bytes behind it. */
function readQuestion(message: Buffer): { readonly name: string; readonly type: number; readonly endByte: number } {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length));
    at += length + 1;
  }
  return { name: labels.join('.').toLowerCase(), type: message.readUInt16BE(at + 1), endByte: at + 5 };
}

function formatAnswer(message: Buffer): Buffer {
  const { name, type, endByte } = readQuestion(message);
  const isKnown = name.endsWith('.test');
  const hasAddress = isKnown && type === TYPE_A;
  const header = Buffer.alloc(HEADER_BYTES);
  message.copy(header, 0, 0, 2);
  header.writeUInt16BE(isKnown ? 0x8580 : 0x8583, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(hasAddress ? 1 : 0, 6);
  // The name again, an address, 60 s.
  const record = Buffer.from([0xc0, HEADER_BYTES, 0, TYPE_A, 0, 1, 0, 0, 0, 60, 0, 4, 127, 0, 0, 1]);
  return Buffer.concat([header, message.subarray(HEADER_BYTES, endByte), ...(hasAddress ? [record] : [])]);
}

/** On port 53 of 127.0.0.1, so in a network namespace of its own. */
export async function startNameServer(delayMs: number): Promise<{ readonly asked: string[]; close(): void }> {
  const asked: string[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (message, { port, address }) => {
    const { name } = readQuestion(message);
    asked.push(name);
    const answer = formatAnswer(message);
    setTimeout(() => socket.send(answer, port, address), name.startsWith('slow') ? delayMs : 0);
  });
  await new Promise<void>((resolve) => socket.bind(53, '127.0.0.1', resolve));
  return { asked, close: () => socket.close() };
}
