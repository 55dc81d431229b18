/**
 * What is said of an answer that HTTP delivers well: whole, it is `ok`; ended at any byte before its own end, it is never
 * `ok` without a remark. Over all fixtures, as they are and compressed.
 */
import { isDeepStrictEqual } from 'node:util';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { outcomeOf } from '../../src/proxy/outcome.ts';
import type { ReportedUsage } from '../../src/vocabulary/token-usage.ts';
import { type Fixture, listFixtures } from '../support/fixtures.ts';
import { readFixture } from '../support/read-fixture.ts';

const FIXTURES = listFixtures();

/** Sound and subtitles: HTTP alone says where they end. */
const WITHOUT_MARKS = /^(?:audio\/|text\/plain|application\/x-subrip)/;
/** Each line is a value of its own, and between two of them nobody can tell that another was to come. */
const LINES = /^application\/(?:x-)?jsonl/;
const LF = 10;

/** Fixtures that were written as cut: whole, they are no whole answers. */
const CUT = FIXTURES.filter(({ name }) => name.includes('-cut')).map(({ provider, name }) => `${provider}/${name}`);

function outcome(fixture: Fixture, reported: ReportedUsage) {
  return outcomeOf({ kind: 'complete' }, fixture.status, reported);
}

/** What a reader of it would miss; a stream whose finish reason and usage were seen lacks nothing. */
function isWhole(reported: ReportedUsage, whole: ReportedUsage): boolean {
  return reported.terminal === whole.terminal && isDeepStrictEqual(reported.usage?.classes, whole.usage?.classes);
}

describe.each(FIXTURES)('the ending of $provider, $name', (fixture) => {
  const isCut = CUT.includes(`${fixture.provider}/${fixture.name}`);

  it('is well where it is whole, and not where it is not', async () => {
    const reported = await readFixture(fixture, [fixture.body]);
    const got = outcome(fixture, reported);
    if (fixture.status >= 400) expect(got).toBe('upstream_error');
    else if (reported.error !== null) expect(got).toBe('upstream_stream_error');
    else expect(got).toBe(isCut ? 'upstream_truncated' : 'ok');
    if (!isCut) expect(reported.flags).not.toContain('no_ending');
    const encoded = await readFixture(fixture, [gzipSync(fixture.body)], 'gzip');
    expect(outcome(fixture, encoded)).toBe(got);
  });

  it('is missed at every byte before it', async () => {
    const { body, status, headers } = fixture;
    if (status >= 300 || isCut || WITHOUT_MARKS.test(headers['content-type'] ?? '')) return;
    const whole = await readFixture(fixture, [body]);
    const areLines = LINES.test(headers['content-type'] ?? '');
    for (let cut = 0; cut < body.length; cut += 1) {
      if (areLines && (body[cut] === LF || body[cut - 1] === LF)) continue;
      const reported = await readFixture(fixture, [body.subarray(0, cut)]);
      if (outcome(fixture, reported) !== 'ok' || reported.flags.length > whole.flags.length) continue;
      expect(isWhole(reported, whole), `ok and nothing remarked at byte ${cut}`).toBe(true);
    }
  });

  it('is missed in a compressed copy too, wherever that was cut', async () => {
    const { body, status, headers } = fixture;
    if (status >= 300 || isCut || body.length === 0) return;
    if ([WITHOUT_MARKS, LINES].some((pattern) => pattern.test(headers['content-type'] ?? ''))) return;
    const encoded = gzipSync(body);
    const whole = await readFixture(fixture, [encoded], 'gzip');
    for (let cut = 0; cut < encoded.length; cut += Math.ceil(encoded.length / 40)) {
      const reported = await readFixture(fixture, [encoded.subarray(0, cut)], 'gzip');
      if (outcome(fixture, reported) !== 'ok' || reported.flags.length > whole.flags.length) continue;
      expect(isWhole(reported, whole), `ok and nothing remarked at byte ${cut}`).toBe(true);
    }
  });
});
