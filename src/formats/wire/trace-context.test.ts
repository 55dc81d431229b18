import { expect, test } from 'vitest';
import { readBaggage, readTraceparent, readXrayRoot } from './trace-context.ts';

test.each([
  ['00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01', '4bf92f3577b34da6a3ce929d0e0e4736'],
  // A later version may say more.
  ['01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more', '4bf92f3577b34da6a3ce929d0e0e4736'],
  ['ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01', null],
  ['00-00000000000000000000000000000000-00f067aa0ba902b7-01', null],
  ['00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01', null],
  ['00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01', null],
  ['', null],
  [undefined, null],
])('traceparent %s has the trace %s', (value, trace) => {
  expect(readTraceparent(value)).toBe(trace);
});

test.each([
  ['Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1', '1-5759e988-bd862e3fe1be46a994272793'],
  [
    'Self=1-67891233-abcdef012345678912345678;Root=1-67891234-abcdef012345678912345678',
    '1-67891234-abcdef012345678912345678',
  ],
  ['Root=1-2', null],
  [undefined, null],
])('X-Amzn-Trace-Id %s has the root %s', (value, root) => {
  expect(readXrayRoot(value)).toBe(root);
});

test.each([
  ['session.id=a%20b;ttl=1, user.id=42', 'session.id', 'a b'],
  ['session.id=a%20b;ttl=1, user.id=42', 'user.id', '42'],
  ['session.id=a', 'session', null],
  ['session.id=%zz', 'session.id', null],
  [`session.id=a,x=${'x'.repeat(8_192)}`, 'session.id', null],
  [undefined, 'session.id', null],
])('baggage %s has at %s: %s', (value, name, found) => {
  expect(readBaggage(value, name)).toBe(found);
});
