import { Hono } from 'hono';
import { streamSSE } from 'hono/streaming';
import pg from 'pg';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { readEvents } from '../../src/cli/read-events.ts';
import { createStreams, followStream } from '../../src/control/admin/follow-stream.ts';
import { formatTailPosition, type TailPosition } from '../../src/control/log/tail-logs.ts';
import { bareAdminDeps } from '../support/admin-deps.ts';

const START: TailPosition = { xid: '5', id: '00000000-0000-4000-8000-000000000001' };
const NEXT: TailPosition = { xid: '6', id: '00000000-0000-4000-8000-000000000002' };
const LATER: TailPosition = { xid: '7', id: '00000000-0000-4000-8000-000000000003' };

/** As much of a pool as the end of the log is read of. */
const pool = Object.assign(new pg.Pool(), { query: async () => ({ rows: [{ xid: '7' }] }) });

function watchLog() {
  const lines: string[] = [];
  return { lines, log: pino({ level: 'error' }, { write: (line: string) => void lines.push(line) }) };
}

test('what fails in a stream is told to the log once, and the stream goes on at the same place', async () => {
  const { lines, log } = watchLog();
  const deps = { ...bareAdminDeps({ adminToken: 'x' }), database: () => pool, log };
  const asked: string[] = [];
  const app = new Hono().get('/', (c) =>
    streamSSE(c, (stream) =>
      followStream(stream, deps, {
        start: START,
        formatId: formatTailPosition,
        pauses: { keepAliveMs: 5, retryMs: 1 },
        poll: async (after) => {
          asked.push(after.xid);
          if (asked.length < 4) throw new TypeError('invalid byte sequence for "secret"');
          if (asked.length === 4) await stream.writeSSE({ event: 'log', id: formatTailPosition(NEXT), data: '{}' });
          return { position: asked.length === 4 ? NEXT : LATER, hasSent: asked.length === 4, isFull: asked.length < 6 };
        },
      }),
    ),
  );
  const ids: (string | null)[] = [];
  for await (const { id, data } of readEvents(await app.request('/'))) {
    ids.push(data === null ? id : `${id} ${data}`);
    expect(data ?? '').not.toContain('secret');
    if (id === formatTailPosition(LATER)) break;
  }
  expect(asked.slice(0, 5)).toEqual(['5', '5', '5', '5', '6']);
  expect(ids.filter((id) => id !== formatTailPosition(START))).toEqual([
    `${formatTailPosition(NEXT)} {}`,
    formatTailPosition(LATER),
  ]);
  expect(lines.filter((line) => line.includes('secret'))).toHaveLength(1);
});

test('a stream that cannot go on at all ends without a word to its client, and gives its place back', async () => {
  const { lines, log } = watchLog();
  const serve = createStreams({ ...bareAdminDeps({ adminToken: 'x' }), log }, 'the live tail');
  const app = new Hono().get('/', (c) => serve(c, async () => Promise.reject(new Error('relation "secret" is gone'))));
  for (let count = 0; count < 25; count += 1) {
    const answer = await app.request('/');
    expect([answer.status, await answer.text()]).toEqual([200, '']);
  }
  expect(lines[0]).toContain('secret');
});
