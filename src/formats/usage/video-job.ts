/** A video's cost in dollars, kept as reported. Source: Together, video generation, November 2026. */
import type { JsonValue, ReportedUsage } from '../../vocabulary/token-usage.ts';
import { withErrorMember } from './read-error.ts';
import { isObject, readCount, readName, readObject } from './read-json.ts';
import { withContext, withEnding, withLaterResult, withTerminal, withUsage } from './reported-usage.ts';
import { createWholeAnswer } from './whole-answer.ts';

const RUNNING_STATUSES: readonly string[] = ['queued', 'in_progress', 'pending', 'running'];

function readJson(body: JsonValue, reported: ReportedUsage): ReportedUsage {
  if (!isObject(body)) return withTerminal(reported);
  const cost = readCount(readObject(body, 'outputs'), 'cost');
  const seen = withUsage(reported, cost === null ? undefined : { outputs: { cost } }, () => ({
    classes: {},
    reasoning: null,
    consistent: true,
  }));
  const status = readName(body, 'status');
  const isFinal = status !== null && !RUNNING_STATUSES.includes(status);
  const known = status === null ? seen : withEnding(withLaterResult(seen, readName(body, 'id'), isFinal), status);
  return withTerminal(withErrorMember(withContext(known, { model: readName(body, 'model') }), body));
}

export const videoJob = createWholeAnswer('video-job', readJson);
