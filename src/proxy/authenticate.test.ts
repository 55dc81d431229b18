import { expect, test } from 'vitest';
import { createGatewayKey, digestKey } from '../keys/gateway-key.ts';
import type { KeyEntry } from '../vocabulary/channel.ts';
import { authenticate, type KeyHolder } from './authenticate.ts';

/** The keys of a snapshot, and what was looked up in it. */
class WatchedKeys extends Map<string, KeyEntry> {
  readonly lookedUp: string[] = [];

  override get(digest: string): KeyEntry | undefined {
    this.lookedUp.push(digest);
    return super.get(digest);
  }
}

function entry(key: string, change: Partial<KeyEntry> = {}): [string, KeyEntry] {
  const digest = digestKey(key);
  return [
    digest,
    { digest, keyId: 1, accountId: 1, revoked: false, expiresAtMs: null, usage: null, bodies: null, ...change },
  ];
}

function outcome(key: string | undefined, holder: KeyHolder, connection: object = {}): string {
  try {
    return `key ${authenticate(key, null, holder, connection, 1_000).keyId}`;
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : String(error);
  }
}

test('known, unknown, revoked and expired keys cost the same work: one digest, one look-up of it as a whole', () => {
  const [good, revoked, expired, unknown] = [1, 2, 3, 4].map(createGatewayKey);
  const keys = new WatchedKeys([
    entry(good ?? ''),
    entry(revoked ?? '', { revoked: true }),
    entry(expired ?? '', { expiresAtMs: 1_000 }),
  ]);
  const holder: KeyHolder = { snapshot: { version: 1, keys, limits: new Map() }, lastOf: new WeakMap() };
  for (const [key, expected] of [
    [good, 'key 1'],
    [revoked, 'key_revoked'],
    [expired, 'key_expired'],
    [unknown, 'key_unknown'],
  ] as const) {
    keys.lookedUp.length = 0;
    expect(outcome(key, holder)).toBe(expected);
    expect(keys.lookedUp).toEqual([digestKey(key ?? '')]);
  }
});

test('what is no key of ours is refused without a look-up', () => {
  const keys = new WatchedKeys();
  const holder: KeyHolder = { snapshot: { version: 1, keys, limits: new Map() }, lastOf: new WeakMap() };
  const key = createGatewayKey();
  for (const text of [
    "' OR pg_sleep(5)--",
    `${key.slice(0, -1)}!`,
    key.slice(0, 20),
    `${key}${key}`,
    '__proto__',
    'x'.repeat(60_000),
  ])
    expect(outcome(text, holder)).toBe('key_malformed');
  for (const text of [undefined, '', '  ']) expect(outcome(text, holder)).toBe('key_missing');
  expect(keys.lookedUp).toEqual([]);
});

test('two keys that begin alike stay apart, also on one connection', () => {
  const first = createGatewayKey();
  // The same 40 characters; the rest of another key, so that the checksum is wrong: then it is no key at all.
  const alike = first.slice(0, 40) + createGatewayKey().slice(40);
  const keys = new WatchedKeys([entry(first, { accountId: 7 })]);
  const holder: KeyHolder = { snapshot: { version: 1, keys, limits: new Map() }, lastOf: new WeakMap() };
  const connection = {};
  expect(outcome(first, holder, connection)).toBe('key 1');
  expect(outcome(alike, holder, connection)).toBe('key_malformed');
  expect(outcome(createGatewayKey(), holder, connection)).toBe('key_unknown');
  expect(outcome(first, holder, connection)).toBe('key 1');
});

test('a check that fails by itself lets nobody in, and neither does a snapshot that is missing', () => {
  class BrokenKeys extends Map<string, KeyEntry> {
    override get(): never {
      throw new Error('broken');
    }
  }
  const key = createGatewayKey();
  expect(outcome(key, { snapshot: null, lastOf: new WeakMap() })).toBe('not_ready');
  expect(
    outcome(key, { snapshot: { version: 1, keys: new BrokenKeys(), limits: new Map() }, lastOf: new WeakMap() }),
  ).toBe('Error: broken');
});

test('a key that was good on a connection is asked of the snapshot again at every call', () => {
  const key = createGatewayKey();
  const connection = {};
  const holder: KeyHolder = {
    snapshot: { version: 1, keys: new Map([entry(key)]), limits: new Map() },
    lastOf: new WeakMap(),
  };
  expect(outcome(key, holder, connection)).toBe('key 1');
  holder.snapshot = { version: 2, keys: new Map([entry(key, { revoked: true })]), limits: new Map() };
  expect(outcome(key, holder, connection)).toBe('key_revoked');
  holder.snapshot = null;
  expect(outcome(key, holder, connection)).toBe('not_ready');
});
