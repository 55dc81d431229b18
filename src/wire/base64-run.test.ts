import { expect, test } from 'vitest';
import { isBase64Run, MIN_BASE64_RUN_BYTES } from './base64-run.ts';

const run = (text: string, bytes: number) => Buffer.alloc(bytes, text);

test.each<[string, Buffer, boolean]>([
  ['base64', run('iVBORw0KGgo+/9', MIN_BASE64_RUN_BYTES), true],
  ['its last piece', Buffer.concat([run('AAAA', MIN_BASE64_RUN_BYTES), Buffer.from('==')]), true],
  ['the alphabet for addresses', run('a-_Z', MIN_BASE64_RUN_BYTES), true],
  ['a short piece', run('A', MIN_BASE64_RUN_BYTES - 1), false],
  ['prose', run('Every call is metered. ', MIN_BASE64_RUN_BYTES), false],
  ['numbers', run('0.0123,-0.45', MIN_BASE64_RUN_BYTES), false],
  ['the end of the string', Buffer.concat([run('A', MIN_BASE64_RUN_BYTES), Buffer.from('"')]), false],
  ['an escape', Buffer.concat([Buffer.from('\\u00e9'), run('A', MIN_BASE64_RUN_BYTES)]), false],
  ['white space', run(' ', MIN_BASE64_RUN_BYTES), false],
  ['nothing', Buffer.alloc(0), false],
])('%s', (_, bytes, expected) => {
  expect(isBase64Run(bytes)).toBe(expected);
});
