/**
 * The state and list of message batches, which are not metered. Clients fetch `results_url` around the gateway. Source:
 * Anthropic's API reference, Message Batches, November 2026.
 */
import type { JsonValue } from '../../vocabulary/token-usage.ts';
import { isObject, readName } from './read-json.ts';
import { withFlag, withTerminal } from './reported-usage.ts';
import { createWholeAnswer } from './whole-answer.ts';

function leadsAway(batch: JsonValue): boolean {
  return isObject(batch) && /^https?:/i.test(readName(batch, 'results_url') ?? '');
}

export const messageBatchState = createWholeAnswer('message-batch-state', (body, reported) => {
  const listed = isObject(body) ? body['data'] : undefined;
  const batches: readonly JsonValue[] = Array.isArray(listed) ? listed : [body];
  return withTerminal(batches.some(leadsAway) ? withFlag(reported, 'leads_away') : reported);
});
