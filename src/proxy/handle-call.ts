/**
 * The path of a call, and nothing else: the table of contents of the product. Each step is the file of that name; the
 * errors of each step are drawn in docs/request-path.md. A step that refuses throws a GatewayError; once the call is
 * forwarded, every ending is a value.
 */
import type { CallBegin, CallBody } from '../call-record.ts';
import type { AwsSigning } from '../config.ts';
import { issuesCredentials } from '../providers/issues-credentials.ts';
import { readCaller } from '../sockets/read-caller.ts';
import { accept } from './accept.ts';
import { Answer } from './answer.ts';
import { authenticate, findKey } from './authenticate.ts';
import { requireHeldBody, SIGNABLE_BODY_BYTES, signRequest } from './aws/sign-request.ts';
import { BodyCopy } from './body-copy.ts';
import type { ClientRequest, ClientResponse } from './client-exchange.ts';
import { countSent, readSentLifetime } from './count-sent.ts';
import type { Gateway } from './gateway.ts';
import { splitGatewayHeaders } from './gateway-headers.ts';
import { hideEchoes, hideInReading, NOT_SIGNED } from './hide-echoes.ts';
import {
  acceptCall,
  keepBegin,
  keepEnd,
  keepsBodies,
  keptAddress,
  loseEnd,
  stampArrival,
  withClockFlag,
} from './keep-call.ts';
import { isStream } from './key-end.ts';
import { editHeadersOf } from './lead-back.ts';
import { refuseRedirect } from './leading-address.ts';
import { attachMeter } from './meter.ts';
import { detailOf, refusalOf } from './outcome.ts';
import { type PreparedBody, prepareBody, withoutCompression } from './prepare-body.ts';
import { NO_BODY_FACTS, readFactsAtEnd, withKnownStream } from './read-body-facts.ts';
import { ASKABLE_BODY_BYTES, type ReceivedBody, receiveBody, SMALL_BODY_BYTES } from './receive-body.ts';
import {
  beginFlags,
  type CallFacts,
  describeCheckpoint,
  describeCopiedBody,
  describeEnd,
  describeHeldBody,
} from './record.ts';
import { refuse } from './refuse.ts';
import { refuseCall } from './refuse-call.ts';
import { chooseRoute, type Route } from './route.ts';

export async function handleCall(incoming: ClientRequest, outgoing: ClientResponse, gateway: Gateway): Promise<void> {
  const arrival = stampArrival(gateway);
  const requestCopy = new BodyCopy(gateway.copies);
  const responseCopy = new BodyCopy(gateway.copies);
  let facts: CallFacts | null = null;
  let begun: CallBegin | 'ended' | null = null;
  try {
    const request = accept(incoming, gateway.headerNames);
    const caller = readCaller(incoming, gateway.trustedPeers);
    const headers = splitGatewayHeaders(request, caller.isBehindProxy);
    if (headers.isToldByProxy && !caller.isBehindProxy) gateway.noteUnnamedProxy();
    const key = authenticate(headers.key, gateway.keys, incoming.socket, arrival.requestedAtMs);
    const route = chooseRoute(request, headers, gateway.routes);
    facts = {
      arrival,
      key,
      node: gateway.settings.node,
      clientAddress: keptAddress(gateway, caller),
      request,
      headers,
      route,
    };

    const mayAsk =
      (key.usage ?? gateway.settings.usage) === 'ask' &&
      !route.isSignedByClient &&
      route.provider.asksForUsage(route.endpoint);
    const bodyStartedMs = performance.now();
    const received = await receiveBody(incoming, outgoing, request, requestCopy, {
      holdBytes: holdLimit(route, mayAsk),
      budget: gateway.heldBodies,
      idle: gateway.idleBodies,
    });
    if (received.kind === 'client-gone') return;
    // A body may take its time.
    findKey(key.digest, gateway.keys, gateway.clock.nowMs());
    const bodyWaitMs = performance.now() - bodyStartedMs;

    const prepared = prepareBody(request, received, mayAsk);
    const isEdited = prepared.isAsked || (route.addresses !== null && route.endpoint.namesResults === true);
    const forwarded = isEdited ? withoutCompression(headers.forwarded) : headers.forwarded;
    // No `await` for the many calls that need none: each costs a turn of the microtask queue.
    const sentHeaders =
      route.signing === null
        ? forwarded
        : await signHeaders(facts, route.signing, forwarded, prepared, requestCopy.totalBytes, gateway);
    const flags = beginFlags(facts, prepared.flags);
    const begin = acceptCall(gateway, facts, prepared.facts, flags);
    begun = begin;
    await keepBegin(gateway, begin);

    const overheadUs = Math.round((performance.now() - arrival.monotonicMs - bodyWaitMs) * 1000);
    const answer = forward(outgoing, gateway, facts, prepared, sentHeaders, responseCopy);
    const ending = await answer.ended;
    gateway.openCalls.delete(answer);

    // Everything below may not change what the client gets: the last byte waits, and then goes out whatever happened.
    begun = 'ended';
    try {
      const requestBytes = received.kind === 'held' ? received.bytes.length : requestCopy.totalBytes;
      const isRead = prepared.facts !== NO_BODY_FACTS;
      const body = isRead ? prepared.facts : await readFactsAtEnd(request, received, requestCopy, prepared.facts);
      const end = describeEnd(facts, begin, {
        ending,
        answer,
        body,
        flags: withClockFlag(withKnownStream(flags, body), arrival),
        sentUsage: countSent(route.endpoint, request, received, requestCopy),
        readSentLifetime: () => readSentLifetime(request, received, requestCopy),
        overheadUs,
        requestBytes,
        // What was read after its client had gone took none of the client's time.
        nowMs: ending.kind === 'delivered' ? (answer.clientLeftMs ?? performance.now()) : performance.now(),
      });
      const bodies = keepsBodies(gateway, facts)
        ? bodiesOf(facts, begin, received, requestCopy, answer, responseCopy)
        : [];
      const kept = hideEchoes(request, signedOf(route, sentHeaders), end, bodies);
      await keepEnd(gateway, begin, kept.end, kept.bodies);
    } catch (error) {
      loseEnd(gateway, begin, error);
    }
    const refusal = refusalOf(ending, answer.head);
    if (refusal === null) answer.release();
    else refuse(incoming, outgoing, refusal, arrival.id, detailOf(ending));
  } catch (error) {
    refuseCall(incoming, outgoing, gateway, arrival, facts, begun, error);
  } finally {
    requestCopy.release();
    responseCopy.release();
  }
}

function holdLimit(route: Route, mayAsk: boolean): number {
  if (route.signing !== null) return SIGNABLE_BODY_BYTES;
  return mayAsk ? ASKABLE_BODY_BYTES : SMALL_BODY_BYTES;
}

function signedOf(route: Route, sentHeaders: readonly string[]): readonly string[] {
  return route.signing === null ? NOT_SIGNED : sentHeaders;
}

async function signHeaders(
  { request, route }: CallFacts,
  signing: AwsSigning,
  headers: readonly string[],
  prepared: PreparedBody,
  streamedBytes: number,
  gateway: Gateway,
): Promise<readonly string[]> {
  const body = requireHeldBody(prepared.body, request.contentLength ?? streamedBytes);
  const keys = await gateway.awsCredentials.read(signing);
  return signRequest(
    { method: request.method, path: route.path, headers, body },
    signing,
    keys,
    new Date(gateway.clock.nowMs()),
  );
}

function forward(
  outgoing: ClientResponse,
  gateway: Gateway,
  facts: CallFacts,
  prepared: PreparedBody,
  sentHeaders: readonly string[],
  responseCopy: BodyCopy,
): Answer {
  const { arrival, request, route } = facts;
  const answer = new Answer(outgoing, {
    requestId: arrival.id,
    method: request.method,
    takesTrailers: request.takesTrailers,
    copy: responseCopy,
    headerNames: gateway.headerNames,
    drainsOnClientAbort: gateway.settings.onClientAbort === 'drain',
    keyDigest: facts.key.digest,
    endsWithKey: (head) => gateway.settings.onRevoke === 'cut' || (head !== null && isStream(route, head)),
    stalls: gateway.stalledClients,
    arrivedMs: arrival.monotonicMs,
    refusesHead: (head) => refuseRedirect(head, route),
    editHeaders: editHeadersOf(route),
    onHead: (head) => attachMeter(route, head, prepared.isAsked, request.method),
    checkpoint: (open, done) => {
      if (open.reading === null) done();
      else {
        const reading = hideInReading(request, signedOf(route, sentHeaders), open.reading);
        gateway.spool.checkpoint(describeCheckpoint(arrival, open, reading, performance.now()), done);
      }
    },
  });
  gateway.openCalls.add(answer);
  // Nobody waits for it any more, and it would cost.
  if (answer.hasEnded) return answer;
  if (gateway.isDraining) outgoing.shouldKeepAlive = false;
  answer.attach(
    gateway.upstream.send(
      {
        origin: route.origin,
        mayBePrivate: route.mayBePrivate,
        host: route.host,
        method: request.method,
        path: route.path,
        headers: sentHeaders,
        body: prepared.body,
        bodyBytes: prepared.body === null || Buffer.isBuffer(prepared.body) ? null : request.contentLength,
        takesTrailers: request.takesTrailers,
      },
      answer,
    ),
  );
  return answer;
}

function bodiesOf(
  facts: CallFacts,
  begin: CallBegin,
  received: ReceivedBody,
  requestCopy: BodyCopy,
  answer: Answer,
  responseCopy: BodyCopy,
): CallBody[] {
  const bodies: CallBody[] = [];
  if (received.kind === 'held') bodies.push(describeHeldBody(begin, facts, received.bytes));
  else if (requestCopy.totalBytes > 0 && !requestCopy.isDropped) {
    bodies.push(describeCopiedBody(begin, 'request', facts.request.header, requestCopy));
  }
  const { head } = answer;
  const isCopied = responseCopy.totalBytes > 0 && !responseCopy.isDropped;
  if (head !== null && isCopied && !issuesCredentials(facts.request.path)) {
    bodies.push(describeCopiedBody(begin, 'response', (name) => head.header(name), responseCopy));
  }
  return bodies;
}
