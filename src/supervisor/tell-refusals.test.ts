import { expect, test } from 'vitest';
import type { RejectedAttempt } from '../vocabulary/channel.ts';
import { createRefusalTeller } from './tell-refusals.ts';

const ATTEMPT: RejectedAttempt = {
  atMs: 0,
  code: 'key_unknown',
  status: 401,
  method: 'POST',
  path: '/v1/chat/completions',
  provider: 'openai',
  userAgent: 'curl/8',
};

test('of each code one refusal a minute is said, however many come', () => {
  const said: unknown[] = [];
  let nowMs = 0;
  const tell = createRefusalTeller({ warn: ({ code, path }) => said.push(`${nowMs} ${code} ${path}`) }, () => nowMs);
  tell([ATTEMPT, ATTEMPT, { ...ATTEMPT, code: 'key_missing', path: '/' }]);
  nowMs = 59_999;
  tell([ATTEMPT]);
  nowMs = 60_000;
  tell([ATTEMPT, ATTEMPT]);
  expect(said).toEqual([
    '0 key_unknown /v1/chat/completions',
    '0 key_missing /',
    '60000 key_unknown /v1/chat/completions',
  ]);
});
