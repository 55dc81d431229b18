/** What a proxy process still holds of credentials when their calls are over: searched for in a snapshot of its heap. */
import { fork } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { asRecord } from '../gateway/start-gateway.ts';
import { startScriptedProvider } from '../support/fake-provider.ts';
import { buildAnswer } from '../support/scripted-answer.ts';

const CHILD = fileURLToPath(new URL('./memory-child.ts', import.meta.url));
const CALLS = 200;
const AT_A_TIME = 10;

test('after hundreds of calls the heap holds no credential but those of the last call on each connection', async () => {
  const provider = await startScriptedProvider({
    answer: (received, index) =>
      buildAnswer(
        index % 3 === 0
          ? { status: 401, body: `{"error":{"message":"no ${received.header('authorization')}"}}` }
          : { body: '{"id":"1"}' },
      ),
  });
  const dir = mkdtempSync(join(tmpdir(), 'tg-'));
  const file = join(dir, 'heap.heapsnapshot');
  const child = fork(CHILD, [provider.origin], { execArgv: ['--expose-gc'] });
  const next = () => new Promise<unknown>((resolve) => child.once('message', resolve));
  const { port, key } = asRecord(await next());
  const agent = new Agent({ keepAlive: true });
  const call = (number: number) =>
    new Promise<void>((resolve, reject) => {
      const path = `/v1/responses?key=CANARYquery${number}`;
      const headers = {
        'x-gateway-key': String(key),
        authorization: `Bearer CANARYbearer${number}`,
        'x-api-key': `CANARYkey${number}`,
        cookie: `s=CANARYcookie${number}`,
      };
      const sent = request({ port: Number(port), agent, method: 'POST', path, headers }, (answer) => {
        answer.resume().once('end', () => resolve());
      });
      sent.once('error', reject).end(`{"model":"m","input":"${number}"}`);
    });
  for (let number = 0; number < CALLS; number += AT_A_TIME)
    await Promise.all(Array.from({ length: AT_A_TIME }, (_, index) => call(number + index)));
  agent.destroy();
  child.send(file);
  await next();
  child.send('end');
  const heap = readFileSync(file, 'utf8');
  rmSync(dir, { recursive: true });
  await provider.close();
  expect(heap.length).toBeGreaterThan(1_000_000);
  const left = [...heap.matchAll(/CANARY[a-z]+(\d+)/g)].map(([, number]) => Number(number));
  // A kept connection knows its last call until the next one; each has had one of the latest.
  expect(left.filter((number) => number < CALLS - 3 * AT_A_TIME)).toEqual([]);
});
