/**
 * The path of a websocket: the steps of a call, then the handshake. Answers other than 101 are passed on; 101 starts a
 * relay, with a record for the connection and one for each of its turns.
 */
import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { WebsocketEndpoint } from '../../providers/provider.ts';
import { readCaller } from '../../sockets/read-caller.ts';
import type { CallBegin, CallEnd } from '../../vocabulary/call-record.ts';
import { GatewayError } from '../../vocabulary/errors.ts';
import { admit } from '../admit.ts';
import { requireAllowedSession } from '../allowed-model.ts';
import { Answer } from '../answer.ts';
import type { AnswerEnding } from '../answer-ending.ts';
import { AnswerHead, dropNamed, headersForClient } from '../answer-head.ts';
import { authenticate } from '../authenticate.ts';
import { BodyCopy } from '../body-copy.ts';
import { settledCost } from '../budget/proxy-budgets.ts';
import type { CallContext, RequestedModel } from '../call-context.ts';
import { CallLog, noteArrival } from '../call-log.ts';
import { describeCopiedBody } from '../describe-body.ts';
import { describeEnd } from '../describe-end.ts';
import type { Gateway } from '../gateway.ts';
import { splitGatewayHeaders } from '../gateway-headers.ts';
import { joinRun } from '../join-run.ts';
import { withKeptCredential } from '../kept-credentials.ts';
import { type Place, takePlace, takeTurn } from '../limits/take-place.ts';
import { refusePaused, subjectOf } from '../pauses.ts';
import type { ReceivedBody } from '../receive-body.ts';
import { refuseCall } from '../refuse-call.ts';
import { release } from '../release.ts';
import { mayComeUnder, reserveFor } from '../reserve.ts';
import { chooseRoute } from '../route.ts';
import { validateRequest } from '../validate-request.ts';
import { limitTurn } from './limit-turn.ts';
import { type ClientGuard, createModelGuard, type ModelGuard } from './model-guard.ts';
import { holdPendingClient, type PendingClient } from './pending-client.ts';
import { createTurnGuard } from './turn-guard.ts';
import { openTurnRecord, readCutEnding } from './turn-record.ts';
import { createWebsocketMeter } from './websocket-meter.ts';
import { describeSession, describeSessionEnd, describeTranscripts, readSessionEnding } from './websocket-record.ts';
import { type RelayTaps, WebsocketRelay } from './websocket-relay.ts';

/** The provider's answer to the handshake. */
type Handshake =
  | { readonly kind: 'answered'; readonly ending: AnswerEnding }
  | {
      readonly kind: 'switched';
      readonly head: AnswerHead;
      readonly reason: string;
      readonly provider: Duplex;
      readonly rest: Buffer;
    };

/** Shared by the steps of opening a websocket. */
interface Opening {
  readonly gateway: Gateway;
  readonly log: CallLog;
  readonly call: CallContext;
  readonly websocket: WebsocketEndpoint;
  readonly isBudgeted: boolean;
  /** Headers of the handshake. */
  readonly sent: readonly string[];
}

/** Not offered where messages must be read before they are passed on: compressed ones are read too late. */
const EXTENSIONS = ['sec-websocket-extensions'];
const NO_BODY: ReceivedBody = Object.freeze({ kind: 'none', waitMs: 0 });
const REQUESTED: RequestedModel = Object.freeze({ model: null, streamed: true });

export async function handleUpgrade(incoming: IncomingMessage, head: Buffer, gateway: Gateway): Promise<void> {
  const { socket } = incoming;
  const client = holdPendingClient(socket, head);
  const outgoing = openResponse(incoming, socket, client);
  if (outgoing === null) return;
  const log = new CallLog(gateway);
  const { id, requestedAtMs } = log.arrival;
  let place: Place | null = null;
  try {
    const request = validateRequest(incoming, gateway.headerNames, true);
    const caller = readCaller(incoming, gateway.trustedPeers);
    const own = splitGatewayHeaders(request, caller.isBehindProxy, gateway.clientNames);
    if (own.isToldByProxy && !caller.isBehindProxy) gateway.noteUnnamedProxy();
    const key = authenticate(own.key, request.addressToken, gateway.keys, incoming.socket, requestedAtMs);
    const headers = joinRun(own, key.run);
    const route = chooseRoute(request, headers, gateway.routes, gateway.upstreamHosts);
    const websocket = route.provider.websocket?.(route.mapped) ?? null;
    const endpoint = websocket?.endpoint ?? route.endpoint;
    const call = log.identify(key, caller, request, headers, { ...route, endpoint }, id);
    admit(call, caller);
    // Handshakes are not signed for AWS, nor forwarded as signed; the client falls back to HTTP.
    const isSigned = route.signature.signing !== null || route.signature.isClients;
    if (websocket === null || request.method !== 'GET' || isSigned) throw new GatewayError('upgrade_unsupported');
    requireAllowedSession(call, websocket.session);
    // One side would read what follows as frames, the other as a body.
    if (request.hasBody) throw new GatewayError('request_malformed');

    refusePaused(call, REQUESTED, gateway.pauses);
    const sent = withKeptCredential(call, headers.forwarded, log, gateway.credentials);
    place = await takePlace(call, NO_BODY, gateway);
    const isBudgeted = await reserveSession(log, call, websocket, gateway);
    await log.begin(REQUESTED, []);
    const opening: Opening = { gateway, log, call, websocket, isBudgeted, sent };
    const answer = new Answer(outgoing, call, log, gateway, { isAsked: false, isHandshake: true });
    const handshake = await shakeHands(answer, opening);
    if (handshake.kind === 'switched') {
      outgoing.detachSocket(socket);
      await relay(socket, client, handshake, answer.connectMs, opening);
    } else {
      await recordAnswer(handshake.ending, answer, log);
      release(incoming, outgoing, answer, handshake.ending, id);
    }
  } catch (error) {
    refuseCall(incoming, outgoing, gateway, log, error);
  } finally {
    place?.release();
    log.release();
  }
}

/**
 * Turns that a client's message begins are reserved one by one (true); where the provider begins them by itself, the
 * connection holds for all of them, as for a call of which nothing is known.
 */
async function reserveSession(
  log: CallLog,
  call: CallContext,
  { session }: WebsocketEndpoint,
  { budgets }: Gateway,
): Promise<boolean> {
  if (budgets === null || !mayComeUnder(budgets, call)) return false;
  if (session !== 'responses-session') {
    await reserveFor(log, call, REQUESTED, 'unread', budgets);
    return false;
  }
  await budgets.loadPrices();
  return true;
}

function joinGuards(first: ModelGuard | null, second: ClientGuard | null): ClientGuard | null {
  if (first === null || second === null) return first ?? second;
  return (chunk) => first(chunk) ?? second(chunk);
}

/** Makes the response for an upgrade. Null, with the socket closed, while an earlier answer is being written. */
function openResponse(incoming: IncomingMessage, socket: Socket, client: PendingClient): ServerResponse | null {
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

/** Sends the handshake; any answer but 101 goes to the client through `answer`. */
async function shakeHands(answer: Answer, { gateway, call, isBudgeted, sent }: Opening): Promise<Handshake> {
  const { request, route } = call;
  const isRead = isBudgeted || call.key.allow?.models !== undefined;
  gateway.openCalls.add(answer);
  try {
    return await new Promise<Handshake>((resolve) => {
      void answer.ended.then((ending) => resolve({ kind: 'answered', ending })); // `ended` never rejects.
      if (answer.hasEnded) return;
      const upstream = gateway.upstream.upgrade(
        {
          origin: route.origin,
          mayBePrivate: route.mayBePrivate,
          method: request.method,
          path: route.path,
          headers: isRead ? dropNamed(sent, EXTENSIONS) : sent,
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

/** Records a handshake that was refused or unanswered. Never rejects. */
function recordAnswer(ending: AnswerEnding, answer: Answer, log: CallLog): Promise<void> {
  return log.end((call, begin) => {
    const end = describeEnd(call, begin, {
      ending,
      answer,
      requested: REQUESTED,
      sentUsage: null,
      overheadUs: log.overheadUs,
      requestBytes: 0,
      nowMs: performance.now(),
    });
    const { head } = answer;
    const isStored = call.logsBodies && head !== null && log.responseCopy.isStored;
    const body = () => describeCopiedBody(begin, 'response', (name) => head?.header(name), log.responseCopy);
    return { end, bodies: isStored ? [body()] : [], isUnsent: !answer.wasConnected };
  });
}

/** Relays from 101 to the end of the connection. Never rejects. */
async function relay(
  socket: Socket,
  client: PendingClient,
  handshake: Handshake & { readonly kind: 'switched' },
  connectMs: number | null,
  opening: Opening,
): Promise<void> {
  const { gateway, log, call, websocket, isBudgeted } = opening;
  const { head, reason, provider, rest } = handshake;
  const { budgets } = gateway;
  const turns = isBudgeted && budgets !== null ? createTurnGuard(gateway, budgets, call) : null;
  const onCost =
    budgets === null ? undefined : (begin: CallBegin, end: CallEnd) => log.addCost(settledCost(budgets, begin, end));
  const { arrival } = call;
  const headersMs = performance.now() - arrival.monotonicMs;
  const meter = createWebsocketMeter({
    session: websocket.session,
    extensions: head.header('sec-websocket-extensions'),
    requestCopy: log.requestCopy,
    responseCopy: log.responseCopy,
    createCopy: () => new BodyCopy(gateway.copies),
    keepsTranscript: call.logsBodies,
    arrivedMs: arrival.monotonicMs,
    noteArrival: () => noteArrival(gateway),
    openTurn: (turn, at, request) =>
      limitTurn(
        openTurnRecord(gateway, opening, head, turn, at, request, { reserved: turns?.take(), onCost }),
        takeTurn(call, gateway),
        () => connection.endKey('rate_limit_exceeded'),
      ),
    checkpoint,
  });
  const summarize = () => describeSession(meter, head, connectMs, headersMs);

  function checkpoint(): void {
    log.checkpoint(summarize(), () => {});
  }

  const models = call.key.allow?.models;
  const guard = joinGuards(models === undefined ? null : createModelGuard(models), turns?.guard ?? null);
  const taps: RelayTaps = {
    fromClient: (chunk) => {
      turns?.notePassed();
      meter.fromClient(chunk);
    },
    fromProvider: meter.fromProvider,
    mayHaveClosed: meter.mayHaveClosed,
  };
  const connection = new WebsocketRelay(socket, provider, taps, call.key.digest, subjectOf(call, REQUESTED), guard);
  gateway.openCalls.add(connection);
  socket.write(writeSwitch(reason, head, arrival.id), 'latin1');
  connection.start(client.take(), rest);
  checkpoint();
  const ended = await connection.ended;
  await meter.finish();
  const ending = readSessionEnding(ended, meter);
  await meter.endTurns((measure) => readCutEnding(ending, measure, meter.closedFirst));
  await log.end((_call, begin) => ({
    end: describeSessionEnd(call, begin, ending, meter, summarize(), log.overheadUs),
    bodies: describeTranscripts(begin, { requestCopy: meter.requestCopy, responseCopy: log.responseCopy }),
  }));
  turns?.close();
  meter.requestCopy.release();
  gateway.openCalls.delete(connection);
  connection.release();
}

/** Hop-by-hop headers are the gateway's; all others are the provider's. */
function writeSwitch(reason: string, head: AnswerHead, requestId: string): string {
  const { headers } = headersForClient(head, requestId);
  let text = `HTTP/1.1 101 ${reason}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n`;
  const passed = dropNamed(headers, ['content-length']);
  for (let index = 0; index + 1 < passed.length; index += 2) text += `${passed[index]}: ${passed[index + 1]}\r\n`;
  return `${text}\r\n`;
}
