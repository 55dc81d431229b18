/** Step: sends the call to its provider. From here on nothing is refused. */
import { Answer } from './answer.ts';
import type { CallContext } from './call-context.ts';
import type { CallLog } from './call-log.ts';
import type { ClientResponse } from './client-exchange.ts';
import type { Gateway } from './gateway.ts';
import type { Outbound } from './prepare-body.ts';

export function forward(
  outgoing: ClientResponse,
  call: CallContext,
  { body, headers, isAsked }: Outbound,
  log: CallLog,
  gateway: Gateway,
): Answer {
  const { request, route } = call;
  const answer = new Answer(outgoing, call, log, gateway, { isAsked, isHandshake: false });
  gateway.openCalls.add(answer);
  if (answer.hasEnded) return answer;
  if (gateway.isDraining) outgoing.shouldKeepAlive = false;
  answer.attach(
    gateway.upstream.send(
      {
        origin: route.origin,
        mayBePrivate: route.mayBePrivate,
        host: route.signature.host,
        method: request.method,
        path: route.path,
        headers,
        body,
        bodyBytes: body === null || Buffer.isBuffer(body) ? null : request.contentLength,
        takesTrailers: request.takesTrailers,
      },
      answer,
    ),
  );
  return answer;
}
