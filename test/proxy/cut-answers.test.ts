import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { readRawAnswer } from '../support/read-raw-answer.ts';
import { buildAnswer } from '../support/scripted-answer.ts';
import { openProxy } from './open-proxy.ts';

const { provider, proxy } = await openProxy();

function get(path: string): string {
  return `GET ${path} HTTP/1.1\r\nHost: a\r\nX-Gateway-Key: ${proxy.key}\r\n\r\n`;
}

/** What comes until the connection ends, or null when it does not end. */
function readToEnd(request: string): Promise<string | null> {
  return new Promise((resolve) => {
    const socket = connect(proxy.port, '127.0.0.1');
    let text = '';
    const limit = setTimeout(() => {
      socket.destroy();
      resolve(null);
    }, 3_000);
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      clearTimeout(limit);
      resolve(text);
    });
    socket.write(request);
  });
}

test('a pipelined call that is cut while it waits for the answer before it: that answer is whole, then the connection breaks', async () => {
  provider.setAnswer((request) =>
    request.requestLine.includes('first')
      ? [{ waitMs: 300 }, ...buildAnswer({ body: 'whole' })]
      : [
          { write: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n' },
          { waitMs: 50 },
          { reset: true },
        ],
  );
  const text = await readToEnd(get('/v1/models?first') + get('/v1/models?second'));
  expect(text).toContain('\r\n\r\nwhole');
  expect(text).toContain('abc\r\n');
  expect(text).not.toContain('0\r\n\r\n');
});

test('an answer whose first chunk cannot be read: its head still goes to the client, as the record says', async () => {
  provider.setAnswer(() => [{ write: 'HTTP/1.1 200 OK\r\nX-A: 1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n' }]);
  const answer = await readRawAnswer('127.0.0.1', proxy.port, get('/v1/models'));
  expect(answer.end).not.toBe('complete');
  expect(answer.status).toBe(200);
  expect(answer.rawHeaders).toContain('X-A');
  expect((await proxy.lastCall()).end).toMatchObject({ outcome: 'upstream_truncated', status: 200 });
});
