import { expect, test } from 'vitest';
import type { DownMessage, KeyChange } from '../vocabulary/channel.ts';
import { createKeyPublication, type KeyReceiver } from './key-publication.ts';

function change(version: number): KeyChange {
  return { baseVersion: version - 1, version, upserts: [] };
}

interface TestProxy extends KeyReceiver {
  readonly got: DownMessage[];
}

function createProxy(isConnected = true): TestProxy {
  const got: DownMessage[] = [];
  return { got, send: (message) => isConnected && got.push(message) > 0 };
}

test('a version is confirmed when the last proxy has applied it', () => {
  const reports: [number, boolean][] = [];
  const publication = createKeyPublication((...report) => reports.push(report));
  const [a, b] = [createProxy(), createProxy()];
  publication.publish(change(5), [a, b]);
  expect(a.got).toEqual([{ type: 'keys-changed', change: change(5) }]);
  publication.applied(a, 5);
  expect(reports).toEqual([]);
  publication.applied(b, 5);
  expect(reports).toEqual([[5, true]]);
});

test('a later version applied stands for the earlier ones', () => {
  const reports: [number, boolean][] = [];
  const publication = createKeyPublication((...report) => reports.push(report));
  const proxy = createProxy();
  publication.publish(change(5), [proxy]);
  publication.publish(change(6), [proxy]);
  publication.applied(proxy, 6);
  expect(reports).toEqual([
    [5, true],
    [6, true],
  ]);
});

test('a proxy that ends or is not there is not waited for', () => {
  const reports: [number, boolean][] = [];
  const publication = createKeyPublication((...report) => reports.push(report));
  const proxy = createProxy();
  publication.publish(change(5), [proxy, createProxy(false)]);
  publication.ended(proxy);
  publication.publish(change(6), []);
  expect(reports).toEqual([
    [5, true],
    [6, true],
  ]);
});

test('a proxy that does not answer in time makes the version not confirmed, once', async () => {
  const reports: [number, boolean][] = [];
  const proxy = createProxy();
  await new Promise<void>((resolve) => {
    const publication = createKeyPublication((...report) => {
      reports.push(report);
      publication.applied(proxy, 5);
      resolve();
    }, 10);
    publication.publish(change(5), [proxy]);
  });
  expect(reports).toEqual([[5, false]]);
});
