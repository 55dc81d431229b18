/** Whether a gateway passes a body on, and an answer back, as the bytes that it got. */
import { createServer, request } from 'node:http';
import { STREAM_ANSWER, STREAM_REQUEST, WHOLE_ANSWER, WHOLE_REQUEST } from './odd-bodies.ts';
import type { PeerGateway, PeerKind } from './peer-gateway.ts';

export interface SameBytes {
  readonly request: boolean;
  readonly answer: boolean;
  readonly streamRequest: boolean;
  /** Null: it answered the stream with an error. */
  readonly stream: boolean | null;
}

async function listen(onBody: (body: string) => void) {
  const server = createServer((incoming, response) => {
    const parts: Buffer[] = [];
    incoming.on('data', (part: Buffer) => parts.push(part));
    incoming.on('end', () => {
      const body = Buffer.concat(parts).toString('latin1');
      if (incoming.method === 'POST') onBody(body);
      const isStream = /"stream"\s*:\s*true/.test(body);
      response.writeHead(200, { 'content-type': isStream ? 'text/event-stream' : 'application/json' });
      response.end(isStream ? STREAM_ANSWER : WHOLE_ANSWER);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return { port: address.port, stop: () => new Promise((resolve) => server.close(resolve).closeAllConnections()) };
}

interface Answer {
  readonly status: number;
  readonly body: string;
}

function call({ jsonPort, gatewayKey, asked = {} }: PeerGateway, body: string): Promise<Answer> {
  const own = asked.headers?.map((line) => line.split(': ')) ?? [
    ['X-Gateway-Key', gatewayKey],
    ['X-Gateway-Provider', 'openai'],
  ];
  const headers = {
    'content-type': 'application/json',
    authorization: asked.authorization ?? 'Bearer sk-bench-0123456789abcdefghijklmnopqrstuvwxyz',
    'content-length': Buffer.byteLength(body),
    ...Object.fromEntries(own),
  };
  const path = asked.path ?? '/v1/chat/completions';
  return new Promise((resolve, reject) => {
    const sent = request(
      { host: '127.0.0.1', port: jsonPort, path, method: 'POST', headers, agent: false },
      (answer) => {
        const parts: Buffer[] = [];
        answer.on('data', (part: Buffer) => parts.push(part));
        answer.on('error', reject);
        answer.on('end', () =>
          resolve({ status: answer.statusCode ?? 0, body: Buffer.concat(parts).toString('latin1') }),
        );
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

/** Starts the gateway for this alone: before a provider that keeps what it gets. */
export async function compareBytes(kind: PeerKind, directory: string): Promise<SameBytes> {
  let got = '';
  const provider = await listen((body) => {
    got = body;
  });
  try {
    const peer = await kind.start(directory, provider.port);
    try {
      const whole = await call(peer, WHOLE_REQUEST);
      const isRequestSame = got === WHOLE_REQUEST;
      if (whole.status !== 200) throw new Error(`answered ${whole.status}: ${whole.body.slice(0, 300)}`);
      const stream = await call(peer, STREAM_REQUEST);
      return {
        request: isRequestSame,
        answer: whole.body === WHOLE_ANSWER,
        streamRequest: got === STREAM_REQUEST,
        stream: stream.status === 200 ? stream.body === STREAM_ANSWER : null,
      };
    } finally {
      await peer.stop();
    }
  } finally {
    await provider.stop();
  }
}
