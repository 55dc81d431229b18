import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { readSealingKey } from './envelope.ts';
import { canOpenCredential, openCredential, rewrapCredential, sealCredential } from './sealed-credential.ts';

const place = { accountId: 1, provider: 'openai', alias: 'team', origin: 'https://api.openai.com' } as const;
const [first, second] = [randomBytes(32), randomBytes(32)];
const stored = { ...place, ...sealCredential(first, place, 'sk-proj-secret') };

test('a credential opens with its key alone, and only at its place', () => {
  expect(openCredential([second, first], stored)).toBe('sk-proj-secret');
  expect(openCredential([second], stored)).toBeNull();
  expect([[second, first], [second], []].map((keys) => canOpenCredential(keys, stored))).toEqual([true, false, false]);
  expect(openCredential([], stored)).toBeNull();
  for (const moved of [
    { accountId: 2 },
    { alias: 'other' },
    { provider: 'gemini' as const },
    { origin: 'https://a.b' },
  ])
    expect(openCredential([first], { ...stored, ...moved })).toBeNull();
});

test('any changed byte is noticed', () => {
  for (const field of ['wrappedKey', 'sealed'] as const) {
    const bytes = Buffer.from(stored[field], 'base64');
    for (let at = 0; at < bytes.length; at += 1) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(openCredential([first], { ...stored, [field]: changed.toString('base64') })).toBeNull();
    }
    expect(openCredential([first], { ...stored, [field]: '' })).toBeNull();
  }
});

test('the same credential is sealed in another way each time, and shows in neither', () => {
  const again = sealCredential(first, place, 'sk-proj-secret');
  expect(again.sealed).not.toBe(stored.sealed);
  expect(again.wrappedKey).not.toBe(stored.wrappedKey);
  expect(Buffer.from(again.sealed, 'base64').toString('latin1')).not.toContain('sk-proj');
});

test('a new key wraps the data key anew, after which the old one is not needed', () => {
  const rewrapped = rewrapCredential([second, first], stored);
  expect(rewrapped).toMatchObject({ sealed: stored.sealed });
  expect(openCredential([second], { ...stored, ...rewrapped })).toBe('sk-proj-secret');
  expect(rewrapCredential([second], stored)).toBeNull();
});

test('a key is 32 bytes in base64', () => {
  expect(readSealingKey(first.toString('base64'))).toEqual(first);
  expect(readSealingKey(first.toString('base64url'))).toEqual(first);
  expect(readSealingKey(first.toString('hex'))).toBeNull();
  expect(readSealingKey('')).toBeNull();
});
