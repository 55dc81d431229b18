/**
 * A provider for the slow clients' benchmark: a small answer at once, or, at a path of its own, an answer without an
 * end, as fast as it is taken.
 */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';

export const ENDLESS_PATH = '/v1/chat/completions?endless';

const SMALL = '{"object":"chat.completion","model":"gpt-x","usage":{"prompt_tokens":1,"completion_tokens":1}}';
const EVENT = `data: {"choices":[{"delta":{"content":"${'word '.repeat(40)}"}}]}\n\n`;
const PIECE = Buffer.from(EVENT.repeat(64));

export interface SlowProvider {
  readonly port: number;
  readonly close: () => Promise<void>;
}

function pour(outgoing: ServerResponse): void {
  while (!outgoing.destroyed) if (!outgoing.write(PIECE)) return;
}

export async function startSlowProvider(): Promise<SlowProvider> {
  const server = createServer((incoming, outgoing) => {
    incoming.resume();
    if (incoming.url === ENDLESS_PATH) {
      outgoing.writeHead(200, { 'content-type': 'text/event-stream' });
      outgoing.on('drain', () => pour(outgoing));
      pour(outgoing);
      return;
    }
    incoming.once('end', () => {
      outgoing.writeHead(200, { 'content-type': 'application/json', 'content-length': SMALL.length });
      outgoing.end(SMALL);
    });
  });
  server.requestTimeout = 0;
  // An end that crosses a call on its way would be a 502, which is not what is measured.
  server.keepAliveTimeout = 600_000;
  server.listen(0, '127.0.0.1', 4_096);
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    port: address.port,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
