import { AsyncLocalStorage } from 'node:async_hooks';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { headers, install, run, step, uninstall } from './index.ts';

const API = Symbol.for('opentelemetry.js.api.1');
const SPAN = Symbol.for('OpenTelemetry Context Key SPAN');

interface Context {
  readonly getValue: (key: symbol) => unknown;
}

/** As the context manager of OpenTelemetry's SDK for Node, which its API keeps under the symbol. */
class Manager {
  private readonly storage = new AsyncLocalStorage<Context>();
  active(): Context {
    return this.storage.getStore() ?? { getValue: () => undefined };
  }
  with<T>(context: Context, work: () => T): T {
    return this.storage.run(context, work);
  }
}

const manager = new Manager();
function span<T>(name: string, attributes: Readonly<Record<string, string>>, work: () => T): T {
  const made = { name, attributes, spanContext: () => ({ traceId: '4bf92f3577b34da6a3ce929d0e0e4736' }) };
  return manager.with({ getValue: (key) => (key === SPAN ? made : undefined) }, work);
}

let before: unknown;
beforeAll(() => {
  before = Reflect.get(globalThis, API);
  Reflect.set(globalThis, API, { context: manager });
  install({ url: 'http://127.0.0.1:9', key: 'tgk_test' });
});
afterAll(() => {
  uninstall();
  Reflect.set(globalThis, API, before);
});

function place(): string {
  const { 'X-Gateway-Trace-Id': id = '-', 'X-Gateway-Span-Path': path = '' } = headers();
  return `${id}:${path}`;
}

test('spans of agents and tools are steps, and others are not', async () => {
  const agent = { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'boss' };
  const tool = { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'search' };
  const chat = { 'gen_ai.operation.name': 'chat', 'gen_ai.agent.name': 'boss' };
  expect(span('GET /', {}, place)).toBe('-:');
  const inside = async () => {
    await Promise.resolve();
    expect(span('chat', chat, place)).toBe('4bf92f3577b34da6a3ce929d0e0e4736:boss');
    return span('execute_tool search', tool, () => step('mine', () => span('chat', chat, place)));
  };
  expect(await span('GET /', {}, () => span('invoke_agent boss', agent, inside))).toBe(
    '4bf92f3577b34da6a3ce929d0e0e4736:boss/search/mine',
  );
  expect(span('invoke_agent boss', agent, () => run('r', () => span('execute_tool', tool, place)))).toBe('r:search');
});

test('the names that the AI SDK is given', () => {
  const tool = { 'ai.toolCall.name': 'weather', 'ai.telemetry.functionId': 'answer' };
  const found = span('ai.generateText', { 'ai.telemetry.functionId': 'answer' }, () =>
    span('ai.toolCall', tool, place),
  );
  expect(found).toBe('4bf92f3577b34da6a3ce929d0e0e4736:answer/weather');
});
