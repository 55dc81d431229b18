/**
 * Why a call to a provider failed, as one of the gateway's own error codes. Text of a cause can hold addresses and goes
 * nowhere; its system code may be recorded.
 */
import { GatewayError, type GatewayErrorCode } from '../../errors.ts';
import { ResponseSyntaxError } from './response-head.ts';

export interface UpstreamFailure {
  readonly code: GatewayErrorCode;
  readonly cause: Error;
  /** Added to the code's message, for the client and in the record. */
  readonly detail?: string;
}

export type UpstreamFault =
  /** No connection, with TLS where there is TLS, within the limit. */
  | 'CONNECT_TIMEOUT'
  /** The name of a provider's own address leads to a network that is not the public one. */
  | 'PRIVATE_ADDRESS'
  /** As many connections to providers as the process may have. */
  | 'TOO_MANY_CONNECTIONS'
  | 'HEADERS_TIMEOUT'
  /** Between two bytes of an answer. */
  | 'IDLE_TIMEOUT'
  /** The connection ended before the answer did. */
  | 'ANSWER_CUT'
  /** A character that would break the request's framing, or a framing header among the headers to pass on. */
  | 'REQUEST_UNSENDABLE'
  /** The body ended before or after the length that was announced. */
  | 'BODY_LENGTH'
  | 'CLIENT_CLOSED';

export class UpstreamError extends Error {
  readonly code: UpstreamFault;

  constructor(code: UpstreamFault) {
    super(`the call to the provider failed: ${code}`);
    this.name = 'UpstreamError';
    this.code = code;
  }
}

export function describeFailure(error: Error): UpstreamFailure {
  return { code: failureCode(error), cause: error };
}

/** What was thrown by the code that listens to the answer. */
export function describeDefect(error: unknown): UpstreamFailure {
  return { code: 'gateway_defect', cause: error instanceof Error ? error : new Error(String(error)) };
}

function failureCode(error: Error): GatewayErrorCode {
  if (error instanceof GatewayError) return error.code;
  if (error instanceof ResponseSyntaxError) return 'upstream_protocol';
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  switch (code) {
    case 'CONNECT_TIMEOUT':
    case 'UND_ERR_CONNECT_TIMEOUT':
    case 'ETIMEDOUT':
      return 'upstream_connect_timeout';
    case 'HEADERS_TIMEOUT':
    case 'IDLE_TIMEOUT':
    case 'UND_ERR_HEADERS_TIMEOUT':
    case 'UND_ERR_BODY_TIMEOUT':
      return 'upstream_timeout';
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return 'upstream_name';
    case 'TOO_MANY_CONNECTIONS':
    case 'EMFILE':
    case 'ENFILE':
      return 'gateway_busy';
    case 'PRIVATE_ADDRESS':
      return 'upstream_private_address';
    case 'REQUEST_UNSENDABLE':
      return 'gateway_defect';
    case 'CLIENT_CLOSED':
      return 'shutting_down';
    case 'UND_ERR_HEADERS_OVERFLOW':
    case 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH':
      return 'upstream_protocol';
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
    case 'EPROTO':
      return 'upstream_tls';
  }
  if (code.startsWith('HPE_')) return 'upstream_protocol';
  if (code.startsWith('ERR_TLS_') || code.startsWith('ERR_SSL_') || code.includes('CERT')) return 'upstream_tls';
  return 'upstream_unreachable';
}
