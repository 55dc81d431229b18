/**
 * A provider that takes nothing but HTTP/1.1 as the gateway has to write it, and says of every byte that is not so what
 * is wrong with it. It reads on its own, byte by byte, with nothing of the gateway's; every answer repeats what it got.
 */
import { createServer, type Socket } from 'node:net';

export interface SeenRequest {
  readonly method: string;
  readonly target: string;
  /** Lines as received, without the request line. */
  readonly headerLines: readonly string[];
  readonly body: Buffer;
}

export interface StrictProvider {
  readonly origin: string;
  /** Whole requests, in order of their last bytes. */
  readonly requests: SeenRequest[];
  /** What a provider should never see. */
  readonly faults: string[];
  readonly bytes: () => number;
  readonly openConnections: () => number;
  readonly close: () => Promise<void>;
}

const REQUEST_LINE = /^([A-Z-]+) (\/[!-~]*) HTTP\/1\.1$/;
const HEADER_LINE = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[\t ]?([\t\x20-\x7e\x80-\xff]*)$/;
/** Headers of the hop between client and gateway, and the gateway's own. */
const NOT_FOR_PROVIDERS =
  /^(?:x-gateway-.*|keep-alive|proxy-connection|proxy-authenticate|proxy-authorization|trailer|upgrade|http2-settings|expect|via)$/i;

interface Head {
  readonly method: string;
  readonly target: string;
  readonly headerLines: readonly string[];
  readonly length: number;
  readonly isChunked: boolean;
}

export async function startStrictProvider(): Promise<StrictProvider> {
  const requests: SeenRequest[] = [];
  const faults: string[] = [];
  const sockets = new Set<Socket>();
  let bytes = 0;
  let host = '';

  function readHead(text: string): Head | null {
    const [start = '', ...headerLines] = text.split('\r\n');
    const [, method = '', target = ''] = REQUEST_LINE.exec(start) ?? [];
    if (method === '') faults.push(`request line ${JSON.stringify(start.slice(0, 200))}`);
    if (text.includes('tgk_')) faults.push('a gateway key');
    const values = new Map<string, string[]>();
    for (const line of headerLines) {
      const [, name = '', value = ''] = HEADER_LINE.exec(line) ?? [];
      if (name === '') faults.push(`header line ${JSON.stringify(line.slice(0, 200))}`);
      if (NOT_FOR_PROVIDERS.test(name)) faults.push(`header ${name}`);
      values.set(name.toLowerCase(), [...(values.get(name.toLowerCase()) ?? []), value]);
    }
    const of = (name: string): readonly string[] => values.get(name) ?? [];
    if (of('host').length !== 1 || of('host')[0] !== host) faults.push(`host ${JSON.stringify(of('host'))}`);
    // The gateway asks for trailers itself, where its client does.
    const connection = of('te').length === 0 ? 'keep-alive' : 'keep-alive, TE';
    if (of('te').length > 0 && of('te').join() !== 'trailers') faults.push(`te ${JSON.stringify(of('te'))}`);
    if (of('connection').join() !== connection) faults.push(`connection ${JSON.stringify(of('connection'))}`);
    const [lengths, codings] = [of('content-length'), of('transfer-encoding')];
    if (lengths.length + codings.length > 1) faults.push(`two framings of ${start.slice(0, 200)}`);
    if (lengths.some((value) => !/^\d{1,15}$/.test(value))) faults.push(`length ${JSON.stringify(lengths)}`);
    if (codings.some((value) => value !== 'chunked')) faults.push(`coding ${JSON.stringify(codings)}`);
    return { method, target, headerLines, length: Number(lengths[0] ?? 0), isChunked: codings.length > 0 };
  }

  function answer(socket: Socket, { method, target }: Head, body: Buffer): void {
    const text = JSON.stringify({ seen: `${method} ${target.slice(0, 200)}`, bodyBytes: body.length });
    const head = `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${text.length}\r\n\r\n`;
    socket.write(method === 'HEAD' ? head : head + text);
  }

  function serve(socket: Socket): void {
    let pending: Buffer = Buffer.alloc(0);
    let head: Head | null = null;
    let body: Buffer[] = [];

    /** True when something was taken from `pending`. */
    function take(): boolean {
      if (head === null) {
        const end = pending.indexOf('\r\n\r\n');
        if (end === -1) return false;
        head = readHead(pending.toString('latin1', 0, end));
        pending = pending.subarray(end + 4);
        return true;
      }
      const { length } = head;
      if (!head.isChunked) {
        if (pending.length < length) return false;
        const content = pending.subarray(0, length);
        pending = pending.subarray(length);
        finish(head, content);
        return true;
      }
      const lineEnd = pending.indexOf('\r\n');
      if (lineEnd === -1) return false;
      const size = pending.toString('latin1', 0, lineEnd);
      if (!/^[0-9a-fA-F]{1,8}$/.test(size)) faults.push(`chunk size ${JSON.stringify(size.slice(0, 100))}`);
      const count = Number.parseInt(size, 16);
      const dataEnd = lineEnd + 2 + count;
      if (pending.length < dataEnd + 2) return false;
      if (pending.toString('latin1', dataEnd, dataEnd + 2) !== '\r\n') faults.push('no line end behind a chunk');
      body.push(Buffer.from(pending.subarray(lineEnd + 2, dataEnd)));
      pending = pending.subarray(dataEnd + 2);
      if (count === 0) finish(head, Buffer.concat(body));
      return true;
    }

    function finish(whole: Head, content: Buffer): void {
      requests.push({ ...whole, body: Buffer.from(content) });
      head = null;
      body = [];
      answer(socket, whole, content);
    }

    socket.on('error', () => {}); // `close` follows.
    socket.on('data', (received: Buffer) => {
      bytes += received.length;
      if (received.includes('SECRET')) faults.push('a secret of another place');
      pending = pending.length === 0 ? received : Buffer.concat([pending, received]);
      while (take()) {}
    });
  }

  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    serve(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  host = `127.0.0.1:${address.port}`;
  return {
    origin: `http://${host}`,
    requests,
    faults,
    bytes: () => bytes,
    openConnections: () => sockets.size,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
