/** Determines who signs a call for AWS, client or gateway, and what that fixes of its route. */
import type { Provider } from '../../providers/provider.ts';
import type { AwsSigning, UpstreamConfig } from '../../vocabulary/config.ts';
import { GatewayError } from '../../vocabulary/errors.ts';
import type { ValidRequest } from '../validate-request.ts';
import { type ClientSignature, requireHoldingSignature } from './client-signature.ts';

export interface CallSignature {
  /** The client's signature must hold at the provider, so no byte may change. */
  readonly isClients: boolean;
  /** Set when the gateway signs the call. */
  readonly signing: AwsSigning | null;
  readonly region: string | null;
  readonly origin: string | null;
  /** Sent as `Host` where it is not the origin's. */
  readonly host: string | null;
}

const UNSIGNED: CallSignature = Object.freeze({
  isClients: false,
  signing: null,
  region: null,
  origin: null,
  host: null,
});

/** `clients`: the signature that the request came with. */
export function readCallSignature(
  request: ValidRequest,
  clients: ClientSignature | null,
  { signedServices }: Provider,
  upstream: UpstreamConfig | null,
): CallSignature {
  const signing = upstream?.aws;
  if (signing !== undefined) return { ...UNSIGNED, signing, region: signing.region, host: signing.host };
  if (clients === null) return UNSIGNED;
  if (request.addressToken !== null) throw new GatewayError('signature_address');
  const { name, region } = requireHoldingSignature(clients, request, signedServices, upstream);
  return { ...UNSIGNED, isClients: true, region, origin: `https://${name}`, host: request.header('host') ?? null };
}
