/**
 * The state of a message batch, and the list of all: nothing is metered. What it names in `results_url` is where
 * clients fetch the results by themselves, around the gateway. Source: Anthropic's API reference, Message Batches,
 * November 2026.
 */
import type { JsonValue } from '../token-usage.ts';
import { isObject, readName } from './json-reading.ts';
import { withFlag, withTerminal } from './reading.ts';
import { createWholeAnswer } from './whole-answer.ts';

function leadsAway(batch: JsonValue): boolean {
  return isObject(batch) && /^https?:/i.test(readName(batch, 'results_url') ?? '');
}

export const messageBatchState = createWholeAnswer('message-batch-state', (body, reading) => {
  const listed = isObject(body) ? body['data'] : undefined;
  const batches: readonly JsonValue[] = Array.isArray(listed) ? listed : [body];
  return withTerminal(batches.some(leadsAway) ? withFlag(reading, 'leads_away') : reading);
});
