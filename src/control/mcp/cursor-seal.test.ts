import { expect, test } from 'vitest';
import { createCursorSeal } from './cursor-seal.ts';

test('a sealed cursor says nothing, opens on every node with the same secret, and on no other', () => {
  const sealed = createCursorSeal('a').seal('2026-11-28 sum 5');
  expect(Buffer.from(sealed, 'base64url').toString('latin1')).not.toContain('sum');
  expect(createCursorSeal('a').open(sealed)).toBe('2026-11-28 sum 5');
  const changed = `${sealed.slice(0, -2)}${sealed.endsWith('AA') ? 'BB' : 'AA'}`;
  expect(['', 'eyJ', changed].map((text) => createCursorSeal('a').open(text))).toEqual([null, null, null]);
  expect(createCursorSeal('b').open(sealed)).toBeNull();
});
