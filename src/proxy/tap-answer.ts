/** Chooses the meter and the editor of an answer once its head is known. */
import { createUsageHider } from '../formats/usage/hide-usage.ts';
import { USAGE_FORMATS } from '../formats/usage/registry.ts';
import { createUsageReader, type UsageReader } from '../formats/usage/usage-reader.ts';
import { isIdentity } from '../formats/wire/content-encoding.ts';
import type { AnswerHead } from './answer-head.ts';
import type { CallContext } from './call-context.ts';
import { type AnswerEditor, createLeadBack } from './lead-back.ts';

export interface AnswerTap {
  readonly reader: UsageReader;
  /** Null: the client gets the bytes unchanged. */
  readonly editor: AnswerEditor | null;
}

export function tapAnswer({ request, route }: CallContext, head: AnswerHead, isAsked: boolean): AnswerTap {
  const contentType = head.header('content-type');
  const contentEncoding = head.header('content-encoding');
  const reader = createUsageReader({
    format: USAGE_FORMATS[route.endpoint.format],
    status: head.status,
    contentType,
    contentEncoding,
    header: (name) => head.header(name),
    resultId: route.endpoint.resultId,
    hasBody: request.method !== 'HEAD',
  });
  // Compressed answers and errors pass untouched.
  const isEventStream = contentType?.trim().toLowerCase().startsWith('text/event-stream') === true;
  const isEditable = isEventStream && isIdentity(contentEncoding) && head.status < 300;
  return { reader, editor: isAsked && isEditable ? createUsageHider() : createLeadBack(route, head) };
}
