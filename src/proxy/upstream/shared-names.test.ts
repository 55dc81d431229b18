import type { LookupFunction } from 'node:net';
import { expect, test } from 'vitest';
import { countLookUps, shareNames } from './shared-names.ts';

type Callback = Parameters<LookupFunction>[2];

/** A name server that answers when the test says so, and a clock that the test moves. */
function openServer(maxLookUps = 8) {
  const asked: string[] = [];
  const pending: { readonly hostname: string; readonly callback: Callback }[] = [];
  const clock = { ms: 0 };
  const lookUp: LookupFunction = (hostname, _options, callback) => {
    asked.push(hostname);
    pending.push({ hostname, callback });
  };
  const names = shareNames({ lookUp, maxLookUps, nowMs: () => clock.ms });
  const take = (hostname: string): Callback => {
    const at = pending.findIndex((one) => one.hostname === hostname);
    const [{ callback } = { callback: () => expect.fail(`nobody asked for ${hostname}`) }] = pending.splice(at, 1);
    return callback;
  };
  return {
    asked,
    clock,
    names,
    answer: (hostname: string, address: string) => take(hostname)(null, [{ address, family: 4 }]),
    fail: (hostname: string, code: string) => take(hostname)(Object.assign(new Error(code), { code }), []),
    find: (hostname: string): Promise<string> => {
      const { promise, resolve } = Promise.withResolvers<string>();
      names.lookUp(hostname, { all: true }, (error, found) => {
        resolve(error?.code ?? (typeof found === 'string' ? found : found.map(({ address }) => address).join(' ')));
      });
      return promise;
    },
  };
}

test('twelve who ask for one slow name at once have one look-up, and all get its answer', async () => {
  const server = openServer();
  const found = Array.from({ length: 12 }, () => server.find('slow.test'));
  expect(server.asked).toEqual(['slow.test']);
  server.answer('slow.test', '192.0.2.1');
  expect(await Promise.all(found)).toEqual(Array.from({ length: 12 }, () => '192.0.2.1'));
});

test('who asks for another name meanwhile does not wait', async () => {
  const server = openServer();
  for (let count = 0; count < 12; count += 1) void server.find('slow.test');
  const quick = server.find('quick.test');
  server.answer('quick.test', '192.0.2.2');
  expect(await quick).toBe('192.0.2.2');
});

test('an answer holds for 30 s; then it is handed out still, while it is looked up anew', async () => {
  const server = openServer();
  const first = server.find('a.test');
  server.answer('a.test', '192.0.2.1');
  await first;
  server.clock.ms = 29_999;
  expect(await server.find('a.test')).toBe('192.0.2.1');
  expect(server.asked).toHaveLength(1);
  server.clock.ms = 30_000;
  expect(await Promise.all([server.find('a.test'), server.find('a.test')])).toEqual(['192.0.2.1', '192.0.2.1']);
  expect(server.asked).toHaveLength(2);
  server.answer('a.test', '192.0.2.9');
  expect(await server.find('a.test')).toBe('192.0.2.9');
});

test('an answer of ten minutes ago is waited for again', async () => {
  const server = openServer();
  const first = server.find('a.test');
  server.answer('a.test', '192.0.2.1');
  await first;
  server.clock.ms = 600_000;
  const second = server.find('a.test');
  server.answer('a.test', '192.0.2.9');
  expect(await second).toBe('192.0.2.9');
});

test('a renewal that fails leaves the answer in use, and is tried again after a second', async () => {
  const server = openServer();
  const first = server.find('a.test');
  server.answer('a.test', '192.0.2.1');
  await first;
  server.clock.ms = 31_000;
  await server.find('a.test');
  server.fail('a.test', 'EAI_AGAIN');
  expect(await server.find('a.test')).toBe('192.0.2.1');
  expect(server.asked).toHaveLength(2);
  server.clock.ms = 32_000;
  expect(await server.find('a.test')).toBe('192.0.2.1');
  expect(server.asked).toHaveLength(3);
});

test('a failure is the answer for a second, and not for longer', async () => {
  const server = openServer();
  const first = server.find('gone.test');
  server.fail('gone.test', 'ENOTFOUND');
  expect(await first).toBe('ENOTFOUND');
  server.clock.ms = 999;
  expect(await server.find('gone.test')).toBe('ENOTFOUND');
  expect(server.asked).toHaveLength(1);
  server.clock.ms = 1_000;
  const second = server.find('gone.test');
  server.answer('gone.test', '192.0.2.1');
  expect(await second).toBe('192.0.2.1');
});

test('addresses that let nobody connect are looked up anew before they are used again', async () => {
  const server = openServer();
  const first = server.find('moved.test');
  server.answer('moved.test', '192.0.2.1');
  await first;
  server.names.distrust('moved.test');
  const second = server.find('moved.test');
  expect(server.asked).toHaveLength(2);
  server.answer('moved.test', '192.0.2.9');
  expect(await second).toBe('192.0.2.9');
});

test('no more look-ups are under way than there are places; names that were found before are the next', async () => {
  const server = openServer(2);
  const known = server.find('known.test');
  server.answer('known.test', '192.0.2.1');
  await known;
  void server.find('one.test');
  void server.find('two.test');
  void server.find('three.test');
  server.clock.ms = 600_000;
  const again = server.find('known.test');
  expect(server.asked).toEqual(['known.test', 'one.test', 'two.test']);
  server.fail('one.test', 'ENOTFOUND');
  expect(server.asked.at(-1)).toBe('known.test');
  server.answer('known.test', '192.0.2.9');
  expect(await again).toBe('192.0.2.9');
  expect(server.asked.at(-1)).toBe('three.test');
});

test('of a thousand names that all wait the next is refused, and a name that was answered makes room', async () => {
  const server = openServer(1_000);
  for (let count = 0; count < 1_000; count += 1) void server.find(`region-${count}.test`);
  expect(await server.find('one-more.test')).toBe('EAI_AGAIN');
  server.answer('region-7.test', '192.0.2.7');
  const more = server.find('one-more.test');
  server.answer('one-more.test', '192.0.2.8');
  expect(await more).toBe('192.0.2.8');
});

test('a name that cannot be looked up at all is a failure like any other', async () => {
  const names = shareNames({
    lookUp: () => {
      throw Object.assign(new TypeError('a name'), { code: 'ERR_INVALID_ARG_VALUE' });
    },
  });
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  names.lookUp('\0', {}, (error) => resolve(error?.code));
  expect(await promise).toBe('ERR_INVALID_ARG_VALUE');
});

test.each([
  ['32', 12],
  ['64', 24],
  ['8', 3],
  ['4', 1],
  ['1', 1],
  [undefined, 1],
  ['many', 1],
])('with %s threads so many look-ups are under way at once: %i', (threads, count) => {
  expect(countLookUps(threads)).toBe(count);
});
