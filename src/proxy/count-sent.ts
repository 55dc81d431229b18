/**
 * Counts what a request sent, for the endpoints that are billed by it and whose answers report nothing. Only text that
 * is plainly there is counted; the answer's own report, where there is one, is what counts.
 */
import type { Endpoint } from '../providers/provider.ts';
import type { TokenUsage } from '../token-usage.ts';
import { isIdentity } from '../wire/content-encoding.ts';
import { scanTopLevel } from '../wire/json-top-level.ts';
import type { AcceptedRequest } from './accept.ts';
import type { ReceivedBody } from './receive-body.ts';

/** Null when the endpoint is not billed so, or the text cannot be seen: a body that is encoded, streamed or not JSON. */
export function countSent(endpoint: Endpoint, request: AcceptedRequest, received: ReceivedBody): TokenUsage | null {
  if (endpoint.countsRequest === undefined || received.kind !== 'held') return null;
  if (!isIdentity(request.header('content-encoding') ?? null)) return null;
  const { state, members, duplicates } = scanTopLevel(received.bytes, ['input']);
  const input = members.get('input')?.scalar;
  if (state !== 'complete' || duplicates.length > 0 || typeof input !== 'string') return null;
  const characters = countCodePoints(input);
  return { classes: { input_characters: characters }, reasoning: null, native: { input_characters: characters } };
}

/** A character outside the basic plane is two code units and one character. */
function countCodePoints(text: string): number {
  let count = 0;
  for (const _character of text) count += 1;
  return count;
}
