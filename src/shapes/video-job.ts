/**
 * A video that is made later and says what it cost, in dollars and not in units: kept with the record as reported, and
 * not counted in any class. Source: Together, video generation, November 2026.
 */
import type { JsonValue, UsageReading } from '../token-usage.ts';
import { withErrorMember } from './error-reading.ts';
import { isObject, readCount, readName, readObject } from './json-reading.ts';
import { withContext, withLaterResult, withTerminal, withUsage } from './reading.ts';
import { createWholeAnswer } from './whole-answer.ts';

const RUNNING_STATUSES: readonly string[] = ['queued', 'in_progress', 'pending', 'running'];

function readJson(body: JsonValue, reading: UsageReading): UsageReading {
  if (!isObject(body)) return withTerminal(reading);
  const cost = readCount(readObject(body, 'outputs') ?? undefined, 'cost');
  const seen = withUsage(reading, cost === null ? undefined : { outputs: { cost } }, () => ({
    classes: {},
    reasoning: null,
    consistent: true,
  }));
  const status = readName(body, 'status');
  const isFinal = status !== null && !RUNNING_STATUSES.includes(status);
  const known = status === null ? seen : withLaterResult(seen, readName(body, 'id'), isFinal);
  return withTerminal(withErrorMember(withContext(known, { model: readName(body, 'model') }), body));
}

export const videoJob = createWholeAnswer('video-job', readJson);
