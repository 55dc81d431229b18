import { expect, test } from 'vitest';
import { readRawAnswer } from '../support/read-raw-answer.ts';
import { buildAnswer } from '../support/scripted-answer.ts';
import { openProxy } from './open-proxy.ts';

const { provider, proxy } = await openProxy();

test('what the first of two Connection headers names stays on its hop too', async () => {
  provider.setAnswer(() =>
    buildAnswer({
      headers: [
        ['Connection', 'X-Hop'],
        ['Connection', 'X-Other'],
        ['X-Hop', '1'],
        ['X-Other', '1'],
        ['X-End', '1'],
      ],
      body: 'x',
    }),
  );
  const answer = await readRawAnswer(
    '127.0.0.1',
    proxy.port,
    `GET /v1/models HTTP/1.1\r\nHost: a\r\nX-Gateway-Key: ${proxy.key}\r\n\r\n`,
  );
  expect(answer.rawHeaders).toContain('X-End');
  expect(answer.rawHeaders).not.toContain('X-Hop');
  expect(answer.rawHeaders).not.toContain('X-Other');
});
