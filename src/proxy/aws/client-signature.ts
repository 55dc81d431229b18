/**
 * A request that its client has signed for AWS (Signature Version 4), and whether that signature still holds at the
 * provider. It covers the host, the path and the headers that it names; what the gateway must change breaks it, and
 * then a refusal with the reason says more than AWS's "does not match". The signature itself is not checked here.
 */
import { type AwsHost, readAwsHost } from '../../aws-host.ts';
import type { UpstreamConfig } from '../../config.ts';
import { GatewayError } from '../../errors.ts';
import type { Provider } from '../../providers/provider.ts';
import { isHopByHop } from '../../wire/hop-by-hop.ts';
import type { AcceptedRequest } from '../accept.ts';

export interface ClientSignature {
  /** In lower case; empty when the request does not tell. */
  readonly signedHeaders: readonly string[];
}

/** Null when the request is not signed, neither in `Authorization` nor in the query. */
export function readClientSignature({ header, query }: AcceptedRequest): ClientSignature | null {
  const authorization = header('authorization');
  if (authorization !== undefined && /^\s*AWS4-/i.test(authorization)) {
    return { signedHeaders: splitNames(/SignedHeaders=([^,\s]+)/i.exec(authorization)?.[1]) };
  }
  if (!/(?:^|&)X-Amz-Signature=/i.test(query)) return null;
  return { signedHeaders: splitNames(/(?:^|&)X-Amz-SignedHeaders=([^&]*)/i.exec(query)?.[1]) };
}

function splitNames(text: string | undefined): readonly string[] {
  return text === undefined || text === '' ? [] : text.toLowerCase().replaceAll('%3b', ';').split(';');
}

/**
 * The AWS host that the request was signed for, where its signature holds. `upstream` is what the operator configured.
 * A signature does not lead a provider's call to another one, as whose it would be recorded and priced.
 */
export function requireHoldingSignature(
  signature: ClientSignature,
  request: AcceptedRequest,
  services: Provider['signedServices'],
  upstream: UpstreamConfig | null,
): AwsHost {
  const host = readAwsHost(request.header('host') ?? '');
  const configured = upstream === null ? null : readAwsHost(new URL(upstream.origin).host);
  const isOfProvider = host !== null && services?.includes(host.service) === true;
  if (host === null || !isOfProvider || !isReachable(host, configured)) throw new GatewayError('signature_host');
  for (const name of signature.signedHeaders) {
    if (name.startsWith('x-gateway-')) throw new GatewayError('signature_gateway_headers');
    // Signed for HTTP/2, where the host has that name; from here on it is HTTP/1.1.
    if (name === ':authority') throw new GatewayError('signature_http2');
    if (isHopByHop(name) || name === 'expect' || request.nominated.includes(name)) {
      throw new GatewayError('signature_hop_headers');
    }
  }
  return host;
}

/** A host that a client names is reached only where its name leads to AWS, and only where the operator would send it. */
function isReachable(host: AwsHost, configured: AwsHost | null): boolean {
  if (configured === null) return host.isPublic;
  if (configured.name === host.name) return true;
  // A private endpoint answers to the public name, too.
  return (
    host.isPublic && !configured.isPublic && configured.service === host.service && configured.region === host.region
  );
}
