/** Steps: writes the begin before the first byte goes upstream, and the end before the last byte goes out. */
import { tellsSecret } from '../providers/issues-credentials.ts';
import type { CallBegin, CallBody } from '../vocabulary/call-record.ts';
import type { Answer } from './answer.ts';
import type { AnswerEnding } from './answer-ending.ts';
import type { CallContext, RequestedModel } from './call-context.ts';
import type { CallLog } from './call-log.ts';
import { countSent, readSentLifetime } from './count-sent.ts';
import { describeCopiedBody, describeHeldBody } from './describe-body.ts';
import { describeEnd } from './describe-end.ts';
import type { Outbound } from './prepare-body.ts';
import { readModelAtEnd, UNREAD_MODEL } from './read-requested-model.ts';
import type { ReceivedBody } from './receive-body.ts';

export function recordBegin(log: CallLog, outbound: Outbound, received: ReceivedBody): Promise<void> {
  return log.begin(outbound.requested ?? UNREAD_MODEL, outbound.flags, received.waitMs);
}

/** Never rejects; nothing here may change what the client gets. */
export function recordEnd(
  log: CallLog,
  call: CallContext,
  outbound: Outbound,
  received: ReceivedBody,
  answer: Answer,
  ending: AnswerEnding,
): Promise<void> {
  const end = (requested: RequestedModel) => writeEnd(log, requested, received, answer, ending);
  return outbound.requested === null
    ? readModelAtEnd(call, received, log.requestCopy).then(end)
    : end(outbound.requested);
}

function writeEnd(
  log: CallLog,
  requested: RequestedModel,
  received: ReceivedBody,
  answer: Answer,
  ending: AnswerEnding,
): Promise<void> {
  return log.end((call, begin) => {
    const { request, route } = call;
    const { requestCopy } = log;
    const end = describeEnd(call, begin, {
      ending,
      answer,
      requested,
      sentUsage: countSent(route.endpoint, request, received, requestCopy),
      readSentLifetime: () => readSentLifetime(request, received, requestCopy),
      overheadUs: log.overheadUs,
      requestBytes: received.kind === 'held' ? received.bytes.length : requestCopy.totalBytes,
      // Time spent reading after the client left is not the client's.
      nowMs: ending.kind === 'delivered' ? (answer.clientLeftMs ?? performance.now()) : performance.now(),
    });
    return {
      end,
      bodies: call.logsBodies ? listBodies(log, call, begin, received, answer) : [],
      isUnsent:
        !answer.wasConnected ||
        (answer.head === null && isCut(received, request.contentLength, requestCopy.totalBytes)),
    };
  });
}

/** The client never sent a whole body, so the provider never had a whole request. */
function isCut(received: ReceivedBody, contentLength: number | null, receivedBytes: number): boolean {
  if (received.kind !== 'streamed' || received.isWhole()) return false;
  // In HTTP/2 the end may be missing where the provider has all of the announced length.
  return contentLength === null || receivedBytes < contentLength;
}

function listBodies(
  { requestCopy, responseCopy }: CallLog,
  call: CallContext,
  begin: CallBegin,
  received: ReceivedBody,
  { head }: Answer,
): CallBody[] {
  const { request } = call;
  const bodies: CallBody[] = [];
  if (received.kind === 'held') bodies.push(describeHeldBody(begin, call, received.bytes));
  else if (requestCopy.isStored) bodies.push(describeCopiedBody(begin, 'request', request.header, requestCopy));
  if (head !== null && responseCopy.isStored && !tellsSecret(request.method, request.path))
    bodies.push(describeCopiedBody(begin, 'response', (name) => head.header(name), responseCopy));
  return bodies;
}
