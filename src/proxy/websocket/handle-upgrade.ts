/**
 * The path of a websocket: the same steps as a call's, then the provider's answer to the handshake. An ordinary answer
 * is given to the client as any answer is; 101 makes it a relay, and one record for the whole connection.
 */
import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { CallBegin } from '../../call-record.ts';
import { GatewayError } from '../../errors.ts';
import type { WebsocketEndpoint } from '../../providers/provider.ts';
import { readCaller } from '../../sockets/read-caller.ts';
import { accept } from '../accept.ts';
import { Answer } from '../answer.ts';
import type { AnswerEnding } from '../answer-ending.ts';
import { AnswerHead, dropNamed, headersForClient } from '../answer-head.ts';
import { authenticate } from '../authenticate.ts';
import { BodyCopy } from '../body-copy.ts';
import type { Gateway } from '../gateway.ts';
import { splitGatewayHeaders } from '../gateway-headers.ts';
import { hideEchoes, hideInReading, NOT_SIGNED } from '../hide-echoes.ts';
import { acceptCall, keepBegin, keepEnd, keepsBodies, keptAddress, loseEnd, stampArrival } from '../keep-call.ts';
import { editHeadersOf } from '../lead-back.ts';
import { refuseRedirect } from '../leading-address.ts';
import { attachMeter } from '../meter.ts';
import { detailOf, refusalOf } from '../outcome.ts';
import { beginFlags, type CallFacts, describeCheckpoint, describeCopiedBody, describeEnd } from '../record.ts';
import { refuse } from '../refuse.ts';
import { refuseCall } from '../refuse-call.ts';
import { chooseRoute } from '../route.ts';
import { type HeldClient, holdClient } from './held-client.ts';
import { createWebsocketMeter } from './websocket-meter.ts';
import { describeSession, describeSessionEnd, describeTranscripts } from './websocket-record.ts';
import { WebsocketRelay } from './websocket-relay.ts';

/** What the provider made of the handshake. */
type Handshake =
  | { readonly kind: 'answered'; readonly ending: AnswerEnding }
  | {
      readonly kind: 'switched';
      readonly head: AnswerHead;
      readonly reason: string;
      readonly provider: Duplex;
      readonly rest: Buffer;
    };

/** A websocket that is being opened: what its steps share. */
interface Opening {
  readonly gateway: Gateway;
  readonly facts: CallFacts;
  readonly begin: CallBegin;
  readonly websocket: WebsocketEndpoint;
  readonly overheadUs: number;
  readonly requestCopy: BodyCopy;
  readonly responseCopy: BodyCopy;
}

export async function handleUpgrade(incoming: IncomingMessage, head: Buffer, gateway: Gateway): Promise<void> {
  const { socket } = incoming;
  const client = holdClient(socket, head);
  const outgoing = openResponse(incoming, socket, client);
  if (outgoing === null) return;
  const arrival = stampArrival(gateway);
  const requestCopy = new BodyCopy(gateway.copies);
  const responseCopy = new BodyCopy(gateway.copies);
  let facts: CallFacts | null = null;
  let begun: CallBegin | 'ended' | null = null;
  try {
    const request = accept(incoming, gateway.headerNames, true);
    const caller = readCaller(incoming, gateway.trustedPeers);
    const headers = splitGatewayHeaders(request, caller.isBehindProxy);
    if (headers.isToldByProxy && !caller.isBehindProxy) gateway.noteUnnamedProxy();
    const key = authenticate(headers.key, gateway.keys, incoming.socket, arrival.requestedAtMs);
    const route = chooseRoute(request, headers, gateway.routes);
    const websocket = route.provider.websocket?.(route.mapped) ?? null;
    facts = {
      arrival,
      key,
      node: gateway.settings.node,
      clientAddress: keptAddress(gateway, caller),
      request,
      headers,
      route: { ...route, endpoint: websocket?.endpoint ?? route.endpoint },
    };
    // A handshake is not signed for AWS, and would not go on as it was signed: its client falls back to HTTP.
    const isSigned = route.signing !== null || route.isSignedByClient;
    if (websocket === null || request.method !== 'GET' || isSigned) throw new GatewayError('upgrade_unsupported');
    // What follows the head would be read as frames by one side and as a body by the other.
    if (request.hasBody) throw new GatewayError('request_malformed');

    const begin = acceptCall(gateway, facts, { model: null, streamed: true }, beginFlags(facts, []));
    begun = begin;
    await keepBegin(gateway, begin);
    const overheadUs = Math.round((performance.now() - arrival.monotonicMs) * 1000);
    const opening: Opening = { gateway, facts, begin, websocket, overheadUs, requestCopy, responseCopy };
    const answer = createAnswer(outgoing, opening);
    const handshake = await shakeHands(answer, opening);
    begun = 'ended';
    if (handshake.kind === 'switched') {
      outgoing.detachSocket(socket);
      await relay(socket, client, handshake, answer.connectMs, opening);
    } else {
      await keepAnswer(handshake.ending, answer, opening);
      const refusal = refusalOf(handshake.ending, answer.head);
      if (refusal === null) answer.release();
      else refuse(incoming, outgoing, refusal, arrival.id, detailOf(handshake.ending));
    }
  } catch (error) {
    refuseCall(incoming, outgoing, gateway, arrival, facts, begun, error);
  } finally {
    requestCopy.release();
    responseCopy.release();
  }
}

/**
 * `node:http` makes no response for a request that asks for another protocol, but knows how to write one. Null, and the
 * connection closed, when an answer to an earlier request is still being written on it: the two would be mixed up.
 */
function openResponse(incoming: IncomingMessage, socket: Socket, client: HeldClient): ServerResponse | null {
  const outgoing = new ServerResponse(incoming);
  outgoing.shouldKeepAlive = false;
  try {
    outgoing.assignSocket(socket);
  } catch {
    socket.destroy();
    return null;
  }
  socket.on('drain', () => outgoing.emit('drain'));
  outgoing.once('finish', () => client.close());
  return outgoing;
}

function createAnswer(outgoing: ServerResponse, { gateway, facts, responseCopy }: Opening): Answer {
  const { arrival, request, route } = facts;
  return new Answer(outgoing, {
    requestId: arrival.id,
    method: request.method,
    takesTrailers: request.takesTrailers,
    copy: responseCopy,
    headerNames: gateway.headerNames,
    drainsOnClientAbort: false,
    keyDigest: facts.key.digest,
    endsWithKey: () => true,
    stalls: gateway.stalledClients,
    arrivedMs: arrival.monotonicMs,
    refusesHead: (head) => refuseRedirect(head, route),
    editHeaders: editHeadersOf(route),
    onHead: (head) => attachMeter(route, head, false, request.method),
    checkpoint: (_answer, done) => done(),
  });
}

/** Sends the handshake; an answer other than 101 goes to the client through `answer`. */
async function shakeHands(answer: Answer, { gateway, facts }: Opening): Promise<Handshake> {
  const { request, headers, route } = facts;
  gateway.openCalls.add(answer);
  try {
    return await new Promise<Handshake>((resolve) => {
      void answer.ended.then((ending) => resolve({ kind: 'answered', ending })); // `ended` never rejects.
      // Nobody waits for it any more.
      if (answer.hasEnded) return;
      const upstream = gateway.upstream.upgrade(
        {
          origin: route.origin,
          mayBePrivate: route.mayBePrivate,
          method: request.method,
          path: route.path,
          headers: headers.forwarded,
          body: null,
          bodyBytes: null,
        },
        {
          onConnection: (isReused) => answer.onConnection(isReused),
          onHead: (status, reason, rawHeaders) => answer.onHead(status, reason, rawHeaders),
          onData: (chunk) => answer.onData(chunk),
          onTrailers: (rawTrailers) => answer.onTrailers(rawTrailers),
          onEnd: () => answer.onEnd(),
          onFailure: (failure) => answer.onFailure(failure),
          onSwitch: (reason, rawHeaders, provider, rest) => {
            // Until the relay listens.
            provider.on('error', () => {});
            const head = new AnswerHead(101, rawHeaders, gateway.headerNames);
            resolve({ kind: 'switched', head, reason, provider, rest });
          },
        },
      );
      answer.attach(upstream);
    });
  } finally {
    gateway.openCalls.delete(answer);
  }
}

/** The record of a handshake that was refused, or got no answer. Never rejects. */
async function keepAnswer(ending: AnswerEnding, answer: Answer, opening: Opening): Promise<void> {
  const { gateway, facts, begin, overheadUs, responseCopy } = opening;
  try {
    const end = describeEnd(facts, begin, {
      ending,
      answer,
      body: { model: null, streamed: true },
      flags: begin.flags,
      sentUsage: null,
      overheadUs,
      requestBytes: 0,
      nowMs: performance.now(),
    });
    const { head } = answer;
    const isKept =
      keepsBodies(gateway, facts) && head !== null && responseCopy.totalBytes > 0 && !responseCopy.isDropped;
    const bodies = isKept ? [describeCopiedBody(begin, 'response', (name) => head.header(name), responseCopy)] : [];
    const kept = hideEchoes(facts.request, NOT_SIGNED, end, bodies);
    await keepEnd(gateway, begin, kept.end, kept.bodies);
  } catch (error) {
    loseEnd(gateway, begin, error);
  }
}

/** From 101 to the end of the connection. Never rejects. */
async function relay(
  socket: Socket,
  client: HeldClient,
  handshake: Handshake & { readonly kind: 'switched' },
  connectMs: number | null,
  opening: Opening,
): Promise<void> {
  const { gateway, facts, begin, websocket, overheadUs, requestCopy, responseCopy } = opening;
  const { head, reason, provider, rest } = handshake;
  const { arrival } = facts;
  const headersMs = performance.now() - arrival.monotonicMs;
  const meter = createWebsocketMeter({
    session: websocket.session,
    extensions: head.header('sec-websocket-extensions'),
    requestCopy,
    responseCopy,
    keepsTranscript: keepsBodies(gateway, facts),
    arrivedMs: arrival.monotonicMs,
    checkpoint,
  });
  const session = describeSession(meter, head, connectMs, headersMs);

  /** Beside the relaying: nothing waits for it. */
  function checkpoint(): void {
    const reading = hideInReading(facts.request, NOT_SIGNED, meter.reading);
    gateway.spool.checkpoint(describeCheckpoint(arrival, session, reading, performance.now()), () => {});
  }

  const connection = new WebsocketRelay(socket, provider, meter, facts.key.digest);
  gateway.openCalls.add(connection);
  socket.write(writeSwitch(reason, head, arrival.id), 'latin1');
  connection.start(client.take(), rest);
  checkpoint();
  const ended = await connection.ended;
  try {
    await meter.finish();
    const end = describeSessionEnd(facts, begin, ended, meter, session, overheadUs);
    const kept = hideEchoes(facts.request, NOT_SIGNED, end, describeTranscripts(begin, requestCopy, responseCopy));
    await keepEnd(gateway, begin, kept.end, kept.bodies);
  } catch (error) {
    loseEnd(gateway, begin, error);
  }
  gateway.openCalls.delete(connection);
  connection.release();
}

/** The headers of this hop are written anew; all others are the provider's. */
function writeSwitch(reason: string, head: AnswerHead, requestId: string): string {
  const { headers } = headersForClient(head, requestId);
  let text = `HTTP/1.1 101 ${reason}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n`;
  const passed = dropNamed(headers, ['content-length']);
  for (let index = 0; index + 1 < passed.length; index += 2) text += `${passed[index]}: ${passed[index + 1]}\r\n`;
  return `${text}\r\n`;
}
