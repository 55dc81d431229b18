import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { GATEWAY_ERRORS } from '../../src/vocabulary/errors.ts';

test('docs/request-path.md lists exactly the refusals of the code, with their status and whether to retry', () => {
  const doc = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'request-path.md'), 'utf8');
  const documented = [...doc.matchAll(/^\| `(\w+)` +\| (\d{3}) +\| (yes|no) +\|$/gm)].map(
    ([, code, status, retry]) => ({
      code,
      status: Number(status),
      retry,
    }),
  );
  const actual = Object.entries(GATEWAY_ERRORS).map(([code, entry]) => ({
    code,
    status: entry.status,
    retry: 'retryable' in entry ? 'yes' : 'no',
  }));
  expect(documented).toEqual(actual);
});
