/** Step: signs the call with the operator's credentials where its upstream asks for it. */
import type { Readable } from 'node:stream';
import type { AwsSigning } from '../vocabulary/config.ts';
import { GatewayError } from '../vocabulary/errors.ts';
import { signRequest } from './aws/sign-request.ts';
import type { CallContext } from './call-context.ts';
import type { CallLog } from './call-log.ts';
import type { Gateway } from './gateway.ts';
import type { Outbound } from './prepare-body.ts';
import { LARGEST_HELD_BODY_BYTES } from './receive-body.ts';

/** No promise where nothing is signed: it would cost a microtask turn. */
export function sign(
  call: CallContext,
  outbound: Outbound,
  log: CallLog,
  gateway: Gateway,
): Outbound | Promise<Outbound> {
  const { signing } = call.route.signature;
  return signing === null ? outbound : signWith(signing, call, outbound, log, gateway);
}

async function signWith(
  signing: AwsSigning,
  { request, route }: CallContext,
  outbound: Outbound,
  log: CallLog,
  gateway: Gateway,
): Promise<Outbound> {
  const body = requireHeldBody(outbound.body, request.contentLength ?? log.requestCopy.totalBytes);
  const keys = await gateway.awsCredentials.read(signing);
  const headers = await signRequest(
    { method: request.method, path: route.path, headers: outbound.headers, body },
    signing,
    keys,
    new Date(gateway.clock.nowMs()),
  );
  log.redactAlso(headers);
  return { ...outbound, headers };
}

/** Throws when the body could not be held, and drops the rest of it. */
export function requireHeldBody(body: Buffer | Readable | null, receivedBytes: number): Buffer | null {
  if (body === null || Buffer.isBuffer(body)) return body;
  body.destroy();
  throw new GatewayError(receivedBytes > LARGEST_HELD_BODY_BYTES ? 'signing_body_too_large' : 'signing_busy');
}
