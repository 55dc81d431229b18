/**
 * The path of a call: each step is the file of that name; its errors are drawn in docs/request-path.md. Before
 * forwarding, a step refuses by a GatewayError; afterwards every ending is a value.
 */

import { answerProbe } from './answer-probe.ts';
import { requireGoodKey } from './authenticate.ts';
import { CallLog } from './call-log.ts';
import type { CallSteps } from './call-steps.ts';
import type { ClientRequest, ClientResponse } from './client-exchange.ts';
import type { Gateway } from './gateway.ts';
import { joinRun } from './join-run.ts';
import type { Place } from './limits/take-place.ts';
import { type ReceivedBody, releaseBody } from './receive-body.ts';
import { refuseCall } from './refuse-call.ts';

/** Answers every failure itself and never rejects. */
export async function handleCall(
  incoming: ClientRequest,
  outgoing: ClientResponse,
  gateway: Gateway,
  steps: CallSteps,
): Promise<void> {
  const log = new CallLog(gateway);
  const { id, requestedAtMs } = log.arrival;
  let place: Place | null = null;
  let received: ReceivedBody | null = null;
  try {
    const request = steps.validateRequest(incoming, gateway.headerNames);
    const caller = steps.readCaller(incoming, gateway.trustedPeers);
    const secrets = gateway.lastSecrets.read(incoming.socket, request);
    const own = steps.splitGatewayHeaders(request, caller.isBehindProxy, gateway.clientNames, secrets);
    if (own.isToldByProxy && !caller.isBehindProxy) gateway.noteUnnamedProxy();
    if (answerProbe(incoming, outgoing, request, own.key, id)) return;
    const key = steps.authenticate(own.key, request.addressToken, gateway.keys, incoming.socket, requestedAtMs);
    const headers = joinRun(own, key.run);
    const route = steps.chooseRoute(request, headers, gateway.routes, gateway.upstreamHosts);
    const call = log.identify(key, caller, request, headers, route);
    steps.admit(call, caller);

    received = await steps.receiveBody(incoming, outgoing, call, log.requestCopy, gateway);
    if (received.kind === 'client-gone') return;
    requireGoodKey(key.digest, gateway.keys, gateway.clock.nowMs()); // A body may take its time.
    const allowing = steps.requireAllowedModel(call, received);
    if (allowing !== null) await allowing;
    const prepared = steps.prepareBody(call, received, gateway);
    steps.refusePaused(call, prepared.requested, gateway.pauses);
    const taken = steps.takePlace(call, received, gateway);
    place = taken instanceof Promise ? await taken : taken;
    const signed = steps.sign(call, prepared, log, gateway);
    const complete = signed instanceof Promise ? await signed : signed;
    const outbound = steps.addKeptCredential(call, complete, log, gateway);
    const reserving = steps.reserve(log, call, outbound, received, gateway);
    if (reserving !== null) await reserving;
    await steps.recordBegin(log, outbound, received);

    const answer = steps.forward(outgoing, call, outbound, log, gateway);
    const ending = await steps.answer(answer);
    gateway.openCalls.delete(answer);

    // The last byte waits for the record, then goes out even if the record failed.
    await steps.recordEnd(log, call, outbound, received, answer, ending);
    place?.settle(answer.reported);
    place?.release(); // Before the client knows that it may call again.
    steps.release(incoming, outgoing, answer, ending, id);
  } catch (error) {
    refuseCall(incoming, outgoing, gateway, log, error);
  } finally {
    place?.release();
    if (received !== null) releaseBody(received, gateway);
    log.release();
  }
}
