import { expect, test } from 'vitest';
import { findMeantHeader } from './misspelt-header.ts';

test.each([
  ['x-gateway-trace', 'x-gateway-trace-id'],
  ['x-gateway-traceid', 'x-gateway-trace-id'],
  ['x-gateway-trace_id', 'x-gateway-trace-id'],
  ['x-gateway-tarce-id', 'x-gateway-trace-id'],
  ['x-gateway-spanpath', 'x-gateway-span-path'],
  ['x-gateway-api-key', 'x-gateway-key'],
  ['x-gatway-key', 'x-gateway-key'],
  ['x-getaway-feature', 'x-gateway-feature'],
  ['x_gateway_key', 'x-gateway-key'],
  ['gateway-trace-id', 'x-gateway-trace-id'],
])('%s is meant for %s', (sent, meant) => {
  expect(findMeantHeader(sent)).toBe(meant);
});

test.each([
  'x-gateway-key',
  'x-gateway-provider-alias',
  'x-gateway-span-name',
  'x-gateway-feature',
  'x-gateway-name',
  'x-gateway-run',
  'gateway-interface',
  'x-gateway',
  'x-gateway-',
  'x-request-id',
  'authorization',
  'x-freeway-toll',
])('%s is as it should be, or none of ours', (sent) => {
  expect(findMeantHeader(sent)).toBeNull();
});
