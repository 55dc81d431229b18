import { expect, test } from 'vitest';
import { requireHeldBody } from './sign.ts';

test('a body of which there is none, or all of it, can be signed', () => {
  const body = Buffer.from('x');
  expect([requireHeldBody(null, 0), requireHeldBody(body, 1)]).toEqual([null, body]);
});
