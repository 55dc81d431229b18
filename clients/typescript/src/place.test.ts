import { EventEmitter } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { baseUrl, carry, headers, install, run, step, uninstall } from './index.ts';

beforeAll(() => install({ url: 'http://127.0.0.1:9', key: 'tgk_test' }));
afterAll(uninstall);

function place(): string {
  const { 'X-Gateway-Trace-Id': id = '-', 'X-Gateway-Span-Path': path = '' } = headers();
  return `${id}:${path}`;
}

describe('run and step', () => {
  test('nest and end', () => {
    expect(place()).toBe('-:');
    run('r', () => {
      step('a', () => step('b / ü', () => expect(place()).toBe('r:a/b%20%2F%20%C3%BC')));
      expect(place()).toBe('r:');
    });
    expect(place()).toBe('-:');
  });

  test('metadata becomes headers, in a form that a header can carry', () => {
    const metadata = { feature: 'search', userId: 7, team_name: 'Köln', absent: null, note: 'a\r\nX-Evil: 1' };
    expect(run('r', metadata, headers)).toEqual({
      'X-Gateway-Key': 'tgk_test',
      'X-Gateway-Trace-Id': 'r',
      'X-Gateway-Feature': 'search',
      'X-Gateway-User-Id': '7',
      'X-Gateway-Team-Name': "UTF-8''K%C3%B6ln",
      'X-Gateway-Note': "UTF-8''a%0D%0AX-Evil%3A%201",
    });
  });

  test.each(['key', 'traceId', 'span_path', 'a b', 'é', ''])('metadata cannot be named %j', (name) => {
    expect(() => run({ [name]: 1 }, headers)).toThrow('cannot be the name of metadata');
  });

  test('a run inside of a run is apart, and one without id has its own', () => {
    run('outer', { feature: 'x' }, () => {
      step('a', () => {
        expect(run('inner', headers)).not.toHaveProperty('X-Gateway-Feature');
        expect(run('inner', () => step('b', place))).toBe('inner:b');
        expect(place()).toBe('outer:a');
      });
    });
    expect(run(place)).toMatch(/^[\da-f-]{36}:$/);
    expect(run(place)).not.toBe(run(place));
  });

  test('parallel runs do not mix', async () => {
    const one = (id: string) =>
      run(id, () =>
        step('a', async () => {
          await turn();
          const inner = await Promise.all(['1', '2'].map((name) => step(name, () => turn().then(place))));
          return [...inner, place()];
        }),
      );
    expect(await Promise.all([one('x'), one('y')])).toEqual([
      ['x:a/1', 'x:a/2', 'x:a'],
      ['y:a/1', 'y:a/2', 'y:a'],
    ]);
  });

  test('work that outlives its step stays in it', async () => {
    const late = run('r', () => step('a', () => turn().then(place)));
    expect(place()).toBe('-:');
    expect(await late).toBe('r:a');
  });

  test('a generator is in its step whenever its own code runs, and its reader is not', async () => {
    const made = run('r', () =>
      step('a', function* () {
        yield place();
        yield place();
      }),
    );
    expect(Array.from(made, (inside) => [inside, place()])).toEqual([
      ['r:a', '-:'],
      ['r:a', '-:'],
    ]);
    const asynchronous = run('r', () =>
      step('b', async function* () {
        yield place();
        await turn();
        yield place();
      }),
    );
    const found: string[] = [];
    for await (const inside of asynchronous) found.push(inside, place());
    expect(found).toEqual(['r:b', '-:', 'r:b', '-:']);
  });

  test('an emitter calls its listeners where it emits, but what is carried where it was carried', () => {
    const emitter = new EventEmitter();
    const found: string[] = [];
    run('r', () =>
      step('a', () =>
        emitter.on(
          'work',
          carry(() => found.push(place())),
        ),
      ),
    );
    run('other', () => emitter.emit('work'));
    expect(found).toEqual(['r:a']);
  });

  test('a long path keeps its outer steps', () => {
    const nest = (depth: number): string => (depth === 0 ? place() : step(`step-${depth}`, () => nest(depth - 1)));
    const found = run('r', () => nest(1_000));
    expect(found).toMatch(/^r:step-1000\/step-999\//);
    expect(found.length).toBeLessThan(4_100);
  });

  test('an id that a header cannot carry is encoded', () => {
    expect(run('a\r\nX-Evil: \uD800ü', headers)).toHaveProperty(
      'X-Gateway-Trace-Id',
      'a%0D%0AX-Evil%3A%20%EF%BF%BD%C3%BC',
    );
  });

  test('what has no place in UTF-8 or in the log is replaced', () => {
    const found = run('r\uDCFF', { note: 'a\uDCFF\0\r\nX: 1' }, () => step('\uDCFF\0\n', headers));
    expect(found).toEqual({
      'X-Gateway-Key': 'tgk_test',
      'X-Gateway-Trace-Id': 'r%EF%BF%BD',
      'X-Gateway-Span-Path': '%EF%BF%BD%EF%BF%BD',
      'X-Gateway-Note': "UTF-8''a%EF%BF%BD%EF%BF%BD%0D%0AX%3A%201",
    });
  });

  test('what is too long for a header is cut, and runs stay apart', () => {
    const metadata = { plain: 'p'.repeat(9_000), other: 'ü€'.repeat(9_000) };
    const found = run('i'.repeat(9_000), metadata, () => step('s'.repeat(9_000), headers));
    expect(found).toMatchObject({ 'X-Gateway-Span-Path': 's'.repeat(200), 'X-Gateway-Plain': 'p'.repeat(4_000) });
    expect(decodeURIComponent(found['X-Gateway-Other']?.slice("UTF-8''".length) ?? '')).toBe('ü€'.repeat(266));
    const [first, second] = [9_000, 9_001].map((length) => run('i'.repeat(length), headers)['X-Gateway-Trace-Id']);
    expect([first?.length, second?.length, first === second]).toEqual([4_000, 4_000, false]);
  });
});

test('base addresses are as each SDK takes them', () => {
  expect([baseUrl(), baseUrl('anthropic')]).toEqual(['http://127.0.0.1:9/v1', 'http://127.0.0.1:9']);
  expect(() => baseUrl('constructor')).toThrow('unknown provider "constructor"');
});

test('a step inside of a node of LangGraph stands beneath that node', () => {
  const storage = Symbol.for('ls:tracing_async_local_storage');
  const before: unknown = Reflect.get(globalThis, storage);
  const metadata = { langgraph_checkpoint_ns: 'ask:1-2|model:3-4', lc_agent_name: 'weather', thread_id: 't9' };
  let config: unknown = {};
  Reflect.set(globalThis, storage, { getStore: () => ({ extra: { [Symbol.for('lc:child_config')]: config } }) });
  try {
    config = { metadata };
    expect(place()).toBe('t9:ask/weather/model');
    expect(step('rank', place)).toBe('t9:ask/weather/model/rank');
    expect(run('r', place)).toBe('r:');
    config = {};
    const inside = () => {
      config = { metadata };
      return place();
    };
    expect(run('r', () => step('outside', inside))).toBe('r:outside/ask/weather/model');
  } finally {
    Reflect.set(globalThis, storage, before);
  }
});
