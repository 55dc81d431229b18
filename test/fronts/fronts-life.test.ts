/** Long silences, and nodes that are replaced, stopped or killed behind the fronts while calls are open. All fronts at once. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { asRecord, waitUntil } from '../gateway/start-gateway.ts';
import { type AnswerStep, buildAnswer } from '../support/scripted-answer.ts';
import type { Front } from './front.ts';
import { installedFronts, openFrontStage } from './front-stage.ts';
import type { HttpVersion } from './open-call.ts';

/** Above the 60 s that are the default of most proxies for a silent upstream. */
const SILENCE_MS = 65_000;
const STREAMS_EACH = 10;

const kinds = installedFronts();
const stage = openFrontStage(kinds);

const BODY = '{"model":"gpt-4o-mini","stream":true,"messages":[]}';
const CHAT = { path: '/v1/chat/completions', headers: { 'content-type': 'application/json' }, body: BODY } as const;
const HEAD = buildAnswer({ headers: [['Content-Type', 'text/event-stream']], framing: 'chunked' }).slice(0, 1);
const EVENT: AnswerStep = { write: '9\r\ndata: 1\n\n\r\n' };
const END: AnswerStep = { write: '0\r\n\r\n' };

type EveryFront<T> = Record<string, T>;

/** By the name of the front and the version of HTTP. */
async function throughEvery<T>(run: (front: Front, version: HttpVersion) => Promise<T>): Promise<EveryFront<T>> {
  const entries = kinds.flatMap(({ name, versions }) =>
    versions.map(async (version) => [`${name} ${version}`, await run(stage().front(name), version)] as const),
  );
  return Object.fromEntries(await Promise.all(entries));
}

function everywhere<T>(value: T): EveryFront<T> {
  const names = kinds.flatMap(({ name, versions }) => versions.map((version) => `${name} ${version}`));
  return Object.fromEntries(names.map((name) => [name, value]));
}

/** The text of an answer, or what became of it. */
async function readCall(
  front: Front,
  version: HttpVersion,
  headers: Readonly<Record<string, string>> = {},
): Promise<string> {
  try {
    const answer = await stage().open(front, { ...CHAT, version, headers: { ...CHAT.headers, ...headers } }).answer;
    const text = String(await answer.whole());
    return answer.status === 200 ? text : `${answer.status} ${text.slice(0, 80)}`;
  } catch (error) {
    return `cut: ${error instanceof Error ? error.message : String(error)}`;
  }
}

test('a provider that is silent for 65 s before its answer, and again within it, is waited for', async () => {
  stage().provider.setAnswer(() => [{ waitMs: SILENCE_MS }, ...HEAD, EVENT, { waitMs: SILENCE_MS }, EVENT, END]);
  expect(await throughEvery((front, version) => readCall(front, version))).toEqual(
    everywhere('data: 1\n\ndata: 1\n\n'),
  );
});

/** Streams of about four seconds through every front, and calls one after another, until `change` is over. */
async function keepCalling(change: () => Promise<void>): Promise<EveryFront<readonly string[]>> {
  const ticks = Array.from({ length: 20 }, (): AnswerStep[] => [EVENT, { waitMs: 200 }]).flat();
  stage().provider.setAnswer((request) =>
    request.header('x-kind') === 'short' ? buildAnswer({ body: 'short' }) : [...HEAD, ...ticks, END],
  );
  let isOver = false;
  const calling = throughEvery(async (front, version) => {
    const endings = new Set<string>();
    const streams = Array.from({ length: STREAMS_EACH }, async () => {
      while (!isOver) endings.add(await readCall(front, version));
    });
    const knocking = (async () => {
      while (!isOver) {
        endings.add(await readCall(front, version, { 'x-kind': 'short' }));
        await sleep(50);
      }
    })();
    await Promise.all([...streams, knocking]);
    return [...endings].sort();
  });
  await sleep(1_000);
  await change();
  isOver = true;
  return calling;
}

const UNTOUCHED = ['data: 1\n\n'.repeat(20), 'short'];

test('a rolling restart of a node cuts no stream and refuses no call, through any front', async () => {
  const [node] = stage().nodes;
  const endings = await keepCalling(async () => {
    node.process.kill('SIGHUP');
    await waitUntil('the restart is over', async () => {
      const status = asRecord(await node.api('/api/v1/status').catch(() => ({})));
      return asRecord(status['restart'] ?? {})['finished'] === 1 ? true : undefined;
    });
  });
  expect(endings).toEqual(everywhere(UNTOUCHED));
});

test('a node that is stopped and started again cuts no stream and loses no call, through any front', async () => {
  const { nodes, restartNode } = stage();
  const endings = await keepCalling(async () => {
    const exited = new Promise((resolve) => nodes[0].process.once('exit', resolve));
    nodes[0].process.kill('SIGTERM');
    expect(await exited).toBe(0);
    await restartNode(0);
    await sleep(3_000);
  });
  expect(endings).toEqual(everywhere(UNTOUCHED));
});

test('a call whose node dies is not made a second time by any front', async () => {
  const { provider, nodes } = stage();
  const never = Promise.withResolvers<void>();
  provider.setAnswer(() => [{ waitFor: never.promise }]);
  const calls = throughEvery((front, version) =>
    readCall(front, version, { 'x-call-id': `once ${front.name} ${version}` }),
  );
  const ids = Object.keys(everywhere(0)).map((name) => `once ${name}`);
  await waitUntil('all calls are at the provider', () =>
    ids.every((id) => provider.ledger.has(id)) ? true : undefined,
  );
  for (const node of nodes)
    for (const { role, pid } of await node.processes())
      if (role === 'proxy' && pid !== null) process.kill(pid, 'SIGKILL');
  const answers = Object.values(await calls);
  await sleep(2_000);
  never.resolve();
  expect(answers.every((answer) => /^50[234] |^cut/.test(answer))).toBe(true);
  expect(ids.map((id) => provider.ledger.get(id))).toEqual(ids.map(() => 1));
  // What the fronts wrote about that has no key in it.
  for (const front of stage().fronts) expect(front.logs()).not.toContain(nodes[0].key);
});
