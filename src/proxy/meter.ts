/**
 * Attaches metering to an answer once its head is known: which shape, which framing, and whether the client's copy
 * needs the asked-for usage taken out again. What is read here is invisible to the client.
 */
import { createUsageHider } from '../shapes/hide-usage.ts';
import { SHAPES } from '../shapes/registry.ts';
import { createUsageReader } from '../shapes/usage-reader.ts';
import { isIdentity } from '../wire/content-encoding.ts';
import type { AnswerHead } from './answer-head.ts';
import type { AnswerMeter, ClientFilter } from './answer-options.ts';
import { createLeadBack } from './lead-back.ts';
import type { Route } from './route.ts';

export function attachMeter(
  route: Route,
  head: AnswerHead,
  isAsked: boolean,
  method: string,
): { meter: AnswerMeter; filter: ClientFilter | null } {
  const contentType = head.header('content-type');
  const contentEncoding = head.header('content-encoding');
  const meter = createUsageReader({
    shape: SHAPES[route.endpoint.shape],
    status: head.status,
    contentType,
    contentEncoding,
    header: (name) => head.header(name),
    resultId: route.endpoint.resultId,
    hasBody: method !== 'HEAD',
  });
  // A provider that compresses although it was asked not to, or answers with an error, gets through untouched.
  const isEventStream = contentType?.trim().toLowerCase().startsWith('text/event-stream') === true;
  const isEditable = isEventStream && isIdentity(contentEncoding) && head.status < 300;
  return { meter, filter: isAsked && isEditable ? createUsageHider() : createLeadBack(route, head) };
}
