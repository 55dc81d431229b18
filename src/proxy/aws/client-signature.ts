/** Reads a client's own AWS signature and refuses calls that would break it; AWS verifies the signature itself. */

import { isHopByHop } from '../../formats/wire/hop-by-hop.ts';
import { type AwsHost, readAwsHost } from '../../providers/aws-host.ts';
import type { Provider } from '../../providers/provider.ts';
import type { UpstreamConfig } from '../../vocabulary/config.ts';
import { GatewayError } from '../../vocabulary/errors.ts';
import type { ValidRequest } from '../validate-request.ts';

export interface ClientSignature {
  /** In lower case; empty when the request does not list them. */
  readonly signedHeaders: readonly string[];
}

/** Null when neither `Authorization` nor the query holds a signature. */
export function readClientSignature({ header, query }: Pick<ValidRequest, 'header' | 'query'>): ClientSignature | null {
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

/** The host the request was signed for. Throws where the signature would not hold, or leads to another provider. */
export function requireHoldingSignature(
  signature: ClientSignature,
  request: ValidRequest,
  services: Provider['signedServices'],
  upstream: UpstreamConfig | null,
): AwsHost {
  const host = readAwsHost(request.header('host') ?? '');
  const configured = upstream === null ? null : readAwsHost(new URL(upstream.origin).host);
  const isOfProvider = host !== null && services?.includes(host.service) === true;
  if (host === null || !isOfProvider || !isReachable(host, configured)) throw new GatewayError('signature_host');
  for (const name of signature.signedHeaders) {
    if (name.startsWith('x-gateway-')) throw new GatewayError('signature_gateway_headers');
    // Signed for HTTP/2; the upstream request is HTTP/1.1.
    if (name === ':authority') throw new GatewayError('signature_http2');
    if (isHopByHop(name) || name === 'expect' || request.nominated.includes(name)) {
      throw new GatewayError('signature_hop_headers');
    }
  }
  return host;
}

/** A client's host is used only if it is AWS's and the operator would send the call there. */
function isReachable(host: AwsHost, configured: AwsHost | null): boolean {
  if (configured === null) return host.isPublic;
  if (configured.name === host.name) return true;
  // A private endpoint also answers to the public name.
  return (
    host.isPublic && !configured.isPublic && configured.service === host.service && configured.region === host.region
  );
}
