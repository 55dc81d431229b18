import { expect, test } from 'vitest';
import { type BatchPace, createBatchPace } from './batch-pace.ts';

const full = (pace: BatchPace) => {
  const { maxEnds, maxBytes } = pace.limits();
  return { records: maxEnds, ends: maxEnds, bytes: maxBytes };
};

test('batches that are stored soon grow to the largest', () => {
  const pace = createBatchPace();
  expect(pace.limits()).toEqual({ maxEnds: 100, maxBytes: 1_048_576 });
  for (let batch = 0; batch < 5; batch += 1) pace.noteStored(full(pace), 50);
  expect(pace.limits()).toEqual({ maxEnds: 500, maxBytes: 8_388_608 });
});

test('small batches that are stored soon say nothing of large ones', () => {
  const pace = createBatchPace();
  pace.noteFailed(full(pace));
  pace.noteStored({ records: 3, ends: 3, bytes: 2_000 }, 50);
  expect(pace.limits()).toEqual({ maxEnds: 50, maxBytes: 524_288 });
});

test('one that takes long is halved before it fails, and one that takes a while stays as it is', () => {
  const pace = createBatchPace();
  pace.noteStored(full(pace), 21_000);
  expect(pace.limits()).toEqual({ maxEnds: 50, maxBytes: 524_288 });
  pace.noteStored(full(pace), 11_000);
  expect(pace.limits()).toEqual({ maxEnds: 50, maxBytes: 524_288 });
});

test('what was in a batch that failed is halved, not what might have been in it', () => {
  const pace = createBatchPace();
  pace.noteFailed({ records: 12, ends: 8, bytes: 7_000 });
  expect(pace.limits()).toEqual({ maxEnds: 4, maxBytes: 3_500 });
});

test('what a batch had none of keeps at least its half', () => {
  const pace = createBatchPace();
  pace.noteFailed({ records: 900, ends: 0, bytes: 400_000 });
  expect(pace.limits()).toEqual({ maxEnds: 50, maxBytes: 200_000 });
  pace.noteFailed({ records: 20, ends: 20, bytes: 0 });
  expect(pace.limits()).toEqual({ maxEnds: 10, maxBytes: 100_000 });
});

test('a single record gets twice the time again and again, up to half an hour, until one like it is quick', () => {
  const pace = createBatchPace();
  const one = { records: 1, ends: 1, bytes: 5_000_000 };
  const times = Array.from({ length: 6 }, () => {
    pace.noteFailed(one);
    return pace.timeoutMs() / 60_000;
  });
  expect(times).toEqual([2, 4, 8, 16, 30, 30]);
  pace.noteStored(one, 900_000);
  pace.noteStored({ records: 1, ends: 1, bytes: 300 }, 100);
  expect(pace.timeoutMs()).toBe(1_800_000);
  pace.noteStored(one, 2_000);
  expect(pace.timeoutMs()).toBe(60_000);
});

test('whatever happens a batch may have one record and one byte', () => {
  const pace = createBatchPace();
  for (let batch = 0; batch < 40; batch += 1) pace.noteFailed(full(pace));
  expect(pace.limits()).toEqual({ maxEnds: 1, maxBytes: 1 });
});
