/**
 * What every provider owes: fixtures, and an endpoint for each of them that is the one expected. How usage is read from
 * the answers is tested over the same fixtures in `fixture-usage.test.ts`.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { PROVIDERS } from '../../src/providers/registry.ts';
import { PROVIDER_NAMES } from '../../src/vocabulary/call-record.ts';
import { describeContract } from '../support/describe-contract.ts';
import { listFixtures } from '../support/fixtures.ts';

const FIXTURES = listFixtures();
const ROOT = fileURLToPath(new URL('../..', import.meta.url));

describeContract(Object.values(PROVIDERS), FIXTURES);

describe('a provider', () => {
  it.each(PROVIDER_NAMES)('is one file that knows no other provider: %s', (name) => {
    const source = readFileSync(`${ROOT}src/providers/${name}.ts`, 'utf8');
    const others = PROVIDER_NAMES.filter((other) => other !== name);
    expect(others.filter((other) => source.includes(`'./${other}.ts'`))).toEqual([]);
  });
});

describe('the stream whose usage was asked for', () => {
  it('is its twin without usage plus `"usage":null` and one chunk, and nothing else', () => {
    const text = (name: string) =>
      FIXTURES.find((fixture) => fixture.provider === 'openai' && fixture.name === name)?.body.toString('utf8') ?? '';
    const hidden = text('chat-stream-usage-asked')
      .split('\n\n')
      .filter((event) => !event.includes('"choices":[]'))
      .join('\n\n')
      .replaceAll(',"usage":null', '');
    expect(hidden).toBe(text('chat-stream-usage-not-asked'));
  });
});
