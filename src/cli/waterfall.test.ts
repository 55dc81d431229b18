import { expect, test } from 'vitest';
import { buildRunTree, type RunCall } from '../control/log/run-tree.ts';
import { formatWaterfall } from './waterfall.ts';

function call(
  id: string,
  spanKey: string | null,
  startMs: number,
  endMs: number,
  over: Partial<RunCall> = {},
): RunCall {
  return {
    id,
    spanKey,
    spanName: id,
    requestedAtMs: startMs,
    respondedAtMs: endMs,
    durationMs: endMs - startMs,
    isError: false,
    totalCost: 10_000_000_000n,
    knownCost: 10_000_000_000n,
    model: null,
    tokens: {
      inputTokens: 1_000,
      cacheReadInputTokens: 500,
      cacheCreationInputTokens: null,
      outputTokens: 20,
      reasoningTokens: null,
    },
    ...over,
  };
}

test('a run is drawn as a tree with costs, tokens, durations and bars, errors and unpriced calls marked', () => {
  const root = buildRunTree([
    call('ask', 'plan', 0, 800, { model: 'gpt-5' }),
    call('look', 'plan/search%201', 800, 2_400),
    call('fail', 'plan/search%201', 2_400, 3_200, { isError: true, totalCost: null, knownCost: null }),
    call('end', null, 3_200, 3_200),
  ]);
  expect(formatWaterfall('trip', root)).toEqual([
    'step                 calls     cost    in  out    time',
    'trip ✗1                 ×4  ≥ $0.03  6.0k   80  3.20 s  │────────────────────────────────│',
    '├─ plan ✗1              ×3  ≥ $0.02  4.5k   60  3.20 s  │────────────────────────────────│',
    '│  ├─ • ask (gpt-5)           $0.01  1.5k   20  800 ms  │████████                        │',
    '│  └─ search 1 ✗1       ×2  ≥ $0.01  3.0k   40  2.40 s  │        ────────────────────────│',
    '│     ├─ • look               $0.01  1.5k   20  1.60 s  │        ████████████████        │',
    '│     └─ ✗ fail                   —  1.5k   20  800 ms  │                        ▒▒▒▒▒▒▒▒│',
    '└─ • end                      $0.01  1.5k   20    0 ms  │                               █│',
    'The cost of 1 of 4 calls is not wholly known (no price, or no usage): sums with ≥ are "at least".',
  ]);
});

test('a call that its client left is told from one that went well', () => {
  const root = buildRunTree([call('asked', null, 0, 300, { isLeftByClient: true }), call('done', null, 300, 400)]);
  const marks = formatWaterfall('trip', root).map((line) => line.slice(0, 12).trim());
  expect(marks).toEqual(['step', 'trip', '├─ ◌ asked', '└─ • done']);
});

test('a name cannot command the terminal, and a very long one is cut', () => {
  const lines = formatWaterfall('\u001b]0;owned\u0007', buildRunTree([call('x'.repeat(300), 'a%1Bb', 0, 1)]));
  expect(lines.join('')).not.toContain('\u001b');
  expect(lines.join('')).not.toContain('\u0007');
  expect(lines[1]).toContain('\\x1b]0;owned\\x07');
  expect(lines[3]).toContain('x…');
});
