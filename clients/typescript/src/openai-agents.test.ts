import { afterAll, beforeAll, expect, test } from 'vitest';
import { headers, install, run, step, uninstall } from './index.ts';

const STORAGE = Symbol.for('openai.agents.core.asyncLocalStorage');
let before: unknown;
let store: unknown;

beforeAll(() => {
  before = Reflect.get(globalThis, STORAGE);
  Reflect.set(globalThis, STORAGE, { getStore: () => store });
  install({ url: 'http://127.0.0.1:9', key: 'tgk_test' });
});
afterAll(() => {
  uninstall();
  Reflect.set(globalThis, STORAGE, before);
});

function span(type: string, name: string, previousSpan: unknown = undefined) {
  return { spanData: { type, name }, previousSpan };
}

test('agents and function tools are steps, and the trace is a run', () => {
  const tool = span('function', 'ask_helper', span('agent', 'boss'));
  const inner = span('generation', 'gpt', span('agent', 'helper', tool));
  store = { active: true, trace: { traceId: 'trace_1' }, span: inner };
  expect(headers()).toMatchObject({ 'X-Gateway-Trace-Id': 'trace_1', 'X-Gateway-Span-Path': 'boss/ask_helper/helper' });
  expect(step('mine', headers)).toMatchObject({ 'X-Gateway-Span-Path': 'boss/ask_helper/helper/mine' });
  expect(run('r', headers)).toEqual({ 'X-Gateway-Key': 'tgk_test', 'X-Gateway-Trace-Id': 'r' });
});

test('with tracing off, traces have one id, which is none', () => {
  store = { active: true, trace: { traceId: 'no-op' }, span: span('agent', 'boss') };
  expect(headers()).toEqual({ 'X-Gateway-Key': 'tgk_test', 'X-Gateway-Span-Path': 'boss' });
  store = { active: false, trace: { traceId: 'trace_1' }, span: span('agent', 'boss') };
  expect(headers()).toEqual({ 'X-Gateway-Key': 'tgk_test' });
});
