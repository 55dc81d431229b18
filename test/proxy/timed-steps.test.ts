/** `TOLLGATE_TRACE_STEPS=yes`: each step of a call is timed once, by its name; without it nothing is. */
import { expect, test } from 'vitest';
import { startScriptedProvider } from '../support/fake-provider.ts';
import { buildAnswer } from '../support/scripted-answer.ts';
import { startProxy } from './start-proxy.ts';

async function countSteps(traceSteps: boolean, path: string) {
  const provider = await startScriptedProvider({ answer: () => buildAnswer({ body: '{}' }) });
  const proxy = await startProxy(provider.origin, { traceSteps });
  try {
    const answer = await fetch(proxy.base + path, { headers: { 'X-Gateway-Key': proxy.key } });
    await answer.text();
    const steps = Object.entries(proxy.gateway.stepTimes?.read() ?? {});
    return steps.map(([name, { counts }]) => [name, counts.reduce((sum, count) => sum + count, 0)]);
  } finally {
    await proxy.close();
    await provider.close();
  }
}

test('each step of a call is timed once, in the order of docs/request-path.md', async () => {
  expect(await countSteps(true, '/v1/models')).toEqual(STEPS.map((name) => [name, 1]));
});

test('a refused call is timed up to the step that refused it', async () => {
  const counts = await countSteps(true, '/nowhere');
  expect(counts.filter(([, count]) => count === 1).map(([name]) => name)).toEqual(STEPS.slice(0, 5));
});

test('without the setting nothing is timed', async () => {
  expect(await countSteps(false, '/v1/models')).toEqual([]);
});

const STEPS = [
  'validate-request',
  'read-caller',
  'gateway-headers',
  'authenticate',
  'route',
  'admit',
  'receive-body',
  'allowed-model',
  'prepare-body',
  'pauses',
  'take-place',
  'sign',
  'kept-credentials',
  'reserve',
  'record-begin',
  'forward',
  'answer',
  'record-end',
  'release',
];
