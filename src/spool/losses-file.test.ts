import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { callBegin, callEnd, NOON_MS } from '../../test/support/call-fixtures.ts';
import { LOSSES_NAME, openLossesFile, readLosses } from './losses-file.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'losses-'));
  return () => rmSync(dir, { recursive: true, force: true });
});

const MINUTE = NOON_MS;

test('lost calls are summed by minute, key and model, and the file never grows', async () => {
  const file = openLossesFile(dir);
  const path = join(dir, LOSSES_NAME);
  expect([statSync(path).size, statSync(path).mode & 0o777]).toEqual([65_536, 0o600]);
  file.count(callBegin(1), callEnd(1));
  file.count(callBegin(2), callEnd(2));
  file.count(callBegin(60_000), callEnd(3));
  file.count(callBegin(4, { keyId: 2, modelRequested: 'gpt-5-mini' }), null);
  const advisor = { purpose: 'advisor', model: 'gpt-5-nano', classes: { input: 4 } };
  const usage = { classes: { output: 1 }, reasoning: null, native: {}, others: [advisor] };
  file.count(callBegin(5), callEnd(5, { model: null, modelRequested: 'gpt-4', usage }));
  file.close();
  const whose = { accountId: 1, keyId: 1, provider: 'openai' };
  expect(await readLosses(dir)).toEqual({
    calls: 5,
    entries: [
      {
        ...whose,
        minuteMs: MINUTE,
        model: 'gpt-5-2025-08-07',
        calls: 2,
        usage: { input: 203, cache_read: 40, output: 14 },
      },
      {
        ...whose,
        minuteMs: MINUTE + 60_000,
        model: 'gpt-5-2025-08-07',
        calls: 1,
        usage: { input: 103, cache_read: 20, output: 7 },
      },
      { ...whose, keyId: 2, minuteMs: MINUTE, model: 'gpt-5-mini', calls: 1, usage: {} },
      { ...whose, minuteMs: MINUTE, model: 'gpt-4', calls: 1, usage: { output: 1 } },
      { ...whose, minuteMs: MINUTE, model: 'gpt-5-nano', calls: 0, usage: { input: 4 } },
    ],
  });
  expect(statSync(path).size).toBe(65_536);
});

test('what is counted first is in the file at once, so that a kill a moment later does not lose it', async () => {
  const file = openLossesFile(dir);
  file.count(callBegin(1), callEnd(1));
  expect((await readLosses(dir)).calls).toBe(1);
  file.count(callBegin(2), callEnd(2));
  file.close();
  expect((await readLosses(dir)).calls).toBe(2);
});

test('more kinds than fit are merged, by model while that is possible, and no call is forgotten', async () => {
  const file = openLossesFile(dir);
  for (let minute = 0; minute < 400; minute += 1) file.count(callBegin(minute * 60_000), callEnd(1));
  for (let key = 1; key <= 300; key += 1) {
    file.count(callBegin(0, { keyId: key }), callEnd(1, { model: `model-${key}-${'x'.repeat(500)}` }));
  }
  file.close();
  const { calls, entries } = await readLosses(dir);
  expect(calls).toBe(700);
  expect(entries.length).toBeLessThanOrEqual(129);
  const rest = entries.filter(({ accountId }) => accountId === null);
  expect(rest.map(({ keyId, provider, model, calls: count }) => [keyId, provider, model, count])).toEqual([
    [null, null, null, 238],
  ]);
  const known = entries.filter(({ model }) => model === 'gpt-5-2025-08-07');
  expect(known.reduce((sum, entry) => sum + entry.calls, 0)).toBe(400);
});

test('a half that was torn or flipped does not count; the other one does', async () => {
  const file = openLossesFile(dir);
  file.count(callBegin(1), callEnd(1));
  file.close();
  const again = openLossesFile(dir);
  again.count(callBegin(2), callEnd(2));
  again.close();
  const path = join(dir, LOSSES_NAME);
  const bytes = readFileSync(path);
  expect((await readLosses(dir)).calls).toBe(2);
  // The second write went to the first half.
  for (const at of [0, 5, 9, 13, 40, 100]) {
    const damaged = Buffer.from(bytes);
    damaged[at] = (damaged[at] ?? 0) ^ 1;
    writeFileSync(path, damaged);
    expect([at, (await readLosses(dir)).calls]).toEqual([at, 1]);
  }
  for (const rest of [Buffer.alloc(0), Buffer.alloc(65_536), Buffer.from('what is this')]) {
    writeFileSync(path, rest);
    expect(await readLosses(dir)).toEqual({ calls: 0, entries: [] });
  }
  expect(await readLosses(join(dir, 'nowhere'))).toEqual({ calls: 0, entries: [] });
});

test('while the file cannot be made losses are counted in memory, and written down when it can', async () => {
  const below = join(dir, 'file', 'p1');
  writeFileSync(join(dir, 'file'), 'in the way');
  const file = openLossesFile(below);
  file.count(callBegin(1), callEnd(1));
  rmSync(join(dir, 'file'));
  file.count(callBegin(2), callEnd(2));
  file.close();
  expect((await readLosses(below)).calls).toBe(2);
});

test('calls that are lost after closing are counted as well, on no descriptor that another file has by then', async () => {
  const file = openLossesFile(dir);
  file.count(callBegin(1), callEnd(1));
  file.close();
  file.count(callBegin(2), callEnd(2));
  const other = join(dir, 'other');
  const fd = openSync(other, 'w+');
  file.count(callBegin(3), callEnd(3));
  file.count(callBegin(4), callEnd(4));
  expect((await readLosses(dir)).calls).toBe(4);
  closeSync(fd);
  expect(statSync(other).size).toBe(0);
  // Where the directory was removed on purpose they stay uncounted.
  rmSync(dir, { recursive: true });
  expect(() => file.count(callBegin(5), callEnd(5))).not.toThrow();
});
