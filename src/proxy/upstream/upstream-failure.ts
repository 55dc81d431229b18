/** Maps failures of provider calls to error codes. A cause's text can hold addresses and is never shown. */
import { GatewayError, type GatewayErrorCode } from '../../vocabulary/errors.ts';
import { ResponseSyntaxError } from './response-head.ts';

export interface UpstreamFailure {
  readonly code: GatewayErrorCode;
  readonly cause: Error;
  /** Added to the code's message for the client and the record. */
  readonly detail?: string;
}

export type UpstreamFault =
  /** No connection, TLS included, within the limit. */
  | 'CONNECT_TIMEOUT'
  /** A provider's own name resolved to a non-public address. */
  | 'PRIVATE_ADDRESS'
  | 'TOO_MANY_CONNECTIONS'
  | 'HEADERS_TIMEOUT'
  | 'IDLE_TIMEOUT'
  | 'ANSWER_CUT'
  /** A character that breaks the framing, or a framing header to pass on. */
  | 'REQUEST_UNSENDABLE'
  /** The body's length differs from the announced one. */
  | 'BODY_LENGTH'
  | 'PROXY_REFUSED'
  | 'CLIENT_CLOSED';

export class UpstreamError extends Error {
  readonly code: UpstreamFault;
  /** For the client and the record, free of addresses. */
  readonly detail: string | null;

  constructor(code: UpstreamFault, detail: string | null = null) {
    super(`the call to the provider failed: ${code}`);
    this.name = 'UpstreamError';
    this.code = code;
    this.detail = detail;
  }
}

export function describeFailure(error: Error): UpstreamFailure {
  const failure = { code: failureCode(error), cause: error };
  const detail =
    error instanceof UpstreamError ? error.detail : failure.code === 'upstream_name' ? nameOf(error) : null;
  return detail === null ? failure : { ...failure, detail };
}

const HOST_NAME = /^[\w.-]{1,253}$/;

/** The host that was looked up. It is part of a configuration or of the provider's own address, and no secret. */
function nameOf(error: Error): string | null {
  const name = 'hostname' in error && typeof error.hostname === 'string' ? error.hostname : '';
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return HOST_NAME.test(name) ? `${code} ${name}` : null;
}

/** For exceptions of the code that listens to the answer. */
export function describeDefect(error: unknown): UpstreamFailure {
  return { code: 'gateway_defect', cause: error instanceof Error ? error : new Error(String(error)) };
}

function failureCode(error: Error): GatewayErrorCode {
  if (error instanceof GatewayError) return error.code;
  if (error instanceof ResponseSyntaxError) return 'upstream_protocol';
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  switch (code) {
    case 'CONNECT_TIMEOUT':
    case 'ETIMEDOUT':
      return 'upstream_connect_timeout';
    case 'HEADERS_TIMEOUT':
    case 'IDLE_TIMEOUT':
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
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
    case 'EPROTO':
      return 'upstream_tls';
  }
  if (code.startsWith('ERR_TLS_') || code.startsWith('ERR_SSL_') || code.includes('CERT')) return 'upstream_tls';
  return 'upstream_unreachable';
}
