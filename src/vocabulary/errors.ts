/** Every refusal of the gateway on the proxy port; a test compares them with docs/request-path.md. */
import { PROVIDER_NAMES } from '../providers/registry.ts';

interface GatewayErrorEntry {
  readonly status: number;
  readonly message: string;
  /** The same request may succeed later; otherwise clients are told not to retry. */
  readonly retryable?: true;
  readonly retryAfterSeconds?: number;
}

export const GATEWAY_ERRORS = {
  key_missing: {
    status: 401,
    message:
      'No gateway key. Send it in the X-Gateway-Key header (Authorization is for the provider’s key); create one with `tollgate keys create NAME`.',
  },
  key_malformed: {
    status: 401,
    message: 'The value of X-Gateway-Key is not a gateway key (tgk_…), or a part of it is missing or mistyped.',
  },
  key_unknown: { status: 401, message: 'This gateway key is not known here. List the keys with `tollgate keys list`.' },
  key_revoked: {
    status: 401,
    message: 'This gateway key was revoked. Create a new one with `tollgate keys create NAME`.',
  },
  key_expired: {
    status: 401,
    message: 'This gateway key has expired. Create a new one with `tollgate keys create NAME`.',
  },
  key_not_in_address: {
    status: 401,
    message:
      'This gateway key stands in the address (/@KEY) and may not: addresses get into logs. Send it in X-Gateway-Key, use a run token (`tollgate run`), or allow it with `tollgate keys edit ID --allow-in-address`.',
  },
  token_malformed: {
    status: 401,
    message:
      'What stands behind /@ in the address is not a gateway key (tgk_…) or a run token (tgr_…), or a part of it is missing or mistyped.',
  },
  token_misplaced: {
    status: 400,
    message:
      'A gateway key or run token stands in the path where it is not taken out, so nothing was sent. It must be the first segment, once, as in http://GATEWAY/@TOKEN/v1.',
  },
  run_token_unknown: {
    status: 401,
    message: 'This run token is not known here, or it ended some time ago. `tollgate run` makes one for each run.',
  },
  run_token_ended: {
    status: 401,
    message: 'This run token has ended, with its run, its key or its time. `tollgate run` makes one for each run.',
  },
  network_not_allowed: {
    status: 403,
    message:
      'This gateway key may not be used from the network that the call comes from. Who manages the keys of this gateway can change that (`tollgate keys edit ID --networks …`).',
  },
  provider_not_allowed: { status: 403, message: 'This gateway key may not call this provider.' },
  alias_not_allowed: { status: 403, message: 'This gateway key may not use this upstream (X-Gateway-Provider-Alias).' },
  endpoint_not_allowed: { status: 403, message: 'This gateway key may not call this endpoint.' },
  model_not_allowed: { status: 403, message: 'This gateway key may not use this model.' },
  bodies_busy: {
    status: 503,
    message:
      'A budget or the models that the key may use need this request to be held and read before it is sent on, and the gateway holds too many large bodies already.',
    retryable: true,
  },
  rate_limit_exceeded: {
    status: 429,
    message: 'This call was not sent: a limit of the gateway on requests or tokens a minute is reached.',
    retryable: true,
  },
  concurrency_limit_exceeded: {
    status: 429,
    message: 'This call was not sent: a limit of the gateway on calls at the same time is reached.',
    retryable: true,
  },
  header_repeated: {
    status: 400,
    message:
      'X-Gateway-Key, -Provider, -Provider-Alias, -Client, -Trace-Id, -Span-Path and -Span-Name may each be sent only once.',
  },
  header_malformed: {
    status: 400,
    message:
      'A reserved X-Gateway header has a value that is not allowed: it is too long, or has characters other than printable ASCII.',
  },
  connection_header: {
    status: 400,
    message:
      'The Connection header names a header that must not be dropped (credentials, content or X-Gateway headers).',
  },
  target_invalid: {
    status: 400,
    message:
      'The request target is not an acceptable path: it must start with one "/", without ".", ".." or empty first segments, backslashes, "#", control or non-ASCII characters.',
  },
  target_elsewhere: {
    status: 400,
    message:
      'The request target names another host, and the gateway is no forward proxy: nothing was sent. Take its address out of HTTP_PROXY, and give it to the client as its base address.',
  },
  provider_unknown: {
    status: 400,
    message: `X-Gateway-Provider must be one of: ${PROVIDER_NAMES.join(', ')}.`,
  },
  provider_required: {
    status: 404,
    message:
      "This path does not tell which provider is meant. Send X-Gateway-Provider, or check the base address: OpenAI-style clients take this gateway's address + /v1, Anthropic's and Google's SDKs the address alone.",
  },
  credential_of_other_provider: {
    status: 400,
    message:
      'This call carries a credential of another provider than the one it would go to, so nothing was sent. Set X-Gateway-Provider to the provider that gave the credential out, and send no other one with it. A server of your own takes any as an alias (TOLLGATE_UPSTREAM_<PROVIDER>_<ALIAS>).',
  },
  alias_unknown: {
    status: 400,
    message: 'X-Gateway-Provider-Alias names no upstream that is configured for this provider.',
  },
  signature_host: {
    status: 400,
    message:
      'This request is signed for AWS (SigV4), and the signature covers a host that it does not go to, so AWS would refuse it. Use an Amazon Bedrock API key (AWS_BEARER_TOKEN_BEDROCK), let the gateway sign (TOLLGATE_AWS_BEDROCK_…), or sign for the AWS host itself.',
  },
  signature_gateway_headers: {
    status: 400,
    message:
      'The AWS signature of this request covers X-Gateway headers, which are taken out here, so AWS would refuse it. Add them after signing.',
  },
  signature_hop_headers: {
    status: 400,
    message:
      'The AWS signature of this request covers headers of this connection (Connection, TE, Expect, …), which do not go on, so AWS would refuse it. Leave them unsigned.',
  },
  signature_http2: {
    status: 400,
    message:
      'The AWS signature of this request is one for HTTP/2 (it covers :authority), and it goes on as HTTP/1.1. For the AWS SDK for JavaScript pass `requestHandler: new NodeHttpHandler()`.',
  },
  signature_path: {
    status: 400,
    message:
      'The AWS signature of this request covers its path, which is sent on as another one (a base address with a prefix, or with a wrong /v1). Sign the path that AWS has.',
  },
  signature_address: {
    status: 400,
    message:
      'The AWS signature of this request covers its path, in which a gateway key or run token stands (/@…) that is taken out here, so AWS would refuse it. Use an Amazon Bedrock API key (AWS_BEARER_TOKEN_BEDROCK), let the gateway sign (TOLLGATE_AWS_BEDROCK_…), or add X-Gateway-Key behind the signer instead.',
  },
  signing_body_too_large: {
    status: 413,
    message: 'The gateway signs this request for AWS and must hold its body for that, which it does up to 32 MiB.',
  },
  signing_busy: {
    status: 503,
    message: 'The gateway signs this request for AWS and holds too many large bodies already.',
    retryable: true,
  },
  aws_credentials_unavailable: {
    status: 503,
    message: 'The gateway signs this request for AWS and has no valid credentials. Its log has the reason.',
    retryable: true,
  },
  credential_unusable: {
    status: 503,
    message:
      'The gateway keeps a credential for this alias and cannot use it, so nothing was sent. Whoever runs the gateway sees why with `tollgate doctor`; a call with a credential of its own goes on.',
  },
  paused: {
    status: 429,
    message:
      'Calls of this run or key are paused, and nothing was sent. Whoever runs the gateway can resume them: on the page "Brakes", or with `tollgate brakes resume ID`.',
  },
  upgrade_unsupported: {
    status: 426,
    message: 'This path has no websocket that the gateway relays. Use the HTTP form of the API.',
  },
  method_unsupported: { status: 405, message: 'CONNECT, TRACE and "OPTIONS *" are not proxied.' },
  transfer_encoding: { status: 501, message: 'The only transfer coding accepted is "chunked", in HTTP/1.1.' },
  tls_required: {
    status: 400,
    message: 'This port speaks TLS, and the request came in plain HTTP: use https:// in the base address.',
  },
  host_invalid: { status: 400, message: 'Send exactly one Host header: a name or an address, and a port.' },
  request_malformed: { status: 400, message: 'The request is not well-formed HTTP/1.1.' },
  headers_too_large: { status: 431, message: 'The request headers are larger than 64 KiB or more than 200.' },
  expectation_failed: { status: 417, message: 'The only expectation supported is "100-continue".' },
  request_timeout: { status: 408, message: 'No byte of the request arrived for 60 s.', retryable: true },
  upstream_unreachable: {
    status: 502,
    message: 'The provider could not be reached: the connection failed before an answer began.',
    retryable: true,
  },
  upstream_name: { status: 502, message: "The provider's host name could not be resolved.", retryable: true },
  upstream_private_address: {
    status: 502,
    message:
      "The provider's host name leads to a private address, and the gateway connects its own table of providers only to public ones. If that is meant (AWS PrivateLink, a mirror of yours), set TOLLGATE_UPSTREAM_<PROVIDER> to the provider's address, such as TOLLGATE_UPSTREAM_BEDROCK=https://bedrock-runtime.eu-west-1.amazonaws.com.",
  },
  upstream_tls: { status: 502, message: "The provider's TLS certificate was not accepted." },
  upstream_protocol: {
    status: 502,
    message: "The provider's answer is not well-formed HTTP, or its headers are too large.",
  },
  upstream_redirect: {
    status: 502,
    message:
      'The provider answered with a redirect to another host, to which your client would send the body and the gateway key again, so it was not passed on. If that is meant, set TOLLGATE_REDIRECTS_<PROVIDER>[_<ALIAS>]=pass.',
  },
  upstream_connect_timeout: { status: 504, message: 'No connection to the provider within 10 s.', retryable: true },
  upstream_timeout: { status: 504, message: 'The provider sent no answer within the time limit.', retryable: true },
  gateway_busy: {
    status: 503,
    message: 'The gateway has as many connections open as its limit on open files allows.',
    retryable: true,
  },
  not_ready: { status: 503, message: 'The gateway has not loaded its keys yet.', retryable: true },
  log_unavailable: {
    status: 503,
    message:
      'The gateway cannot keep the record of this call and is set to refuse calls then (TOLLGATE_ON_FULL=closed). Nothing was sent to the provider.',
    retryable: true,
    retryAfterSeconds: 5,
  },
  budget_exceeded: {
    status: 429,
    message:
      'This call was not sent: it might spend more than is left of a budget. Trying again does not help before the budget resets or is raised.',
  },
  budget_unpriced: {
    status: 429,
    message:
      'This call was not sent: a budget lets through only calls of which it is known how much they may cost at most. Change what the reason names, or let the budget set aside for such calls what they usually cost or a stated sum (`tollgate budgets edit` with `--reserve p99` or `--hold USD`).',
  },
  budget_unavailable: {
    status: 503,
    message:
      'This call was not sent: the ledger of budgets cannot be written now, or another node holds all budgets and says nothing. `tollgate doctor` and the log of the gateway have the reason.',
    retryable: true,
  },
  run_budget_malformed: {
    status: 400,
    message: 'X-Gateway-Budget-Usd must be an amount in dollars above 0 and up to 1000000, such as 2.50.',
  },
  run_budget_without_run: {
    status: 400,
    message:
      'X-Gateway-Budget-Usd sets the budget of a run, and this call is in none: send X-Gateway-Trace-Id with it.',
  },
  run_budget_not_allowed: {
    status: 403,
    message:
      'The calls of this gateway key may not set budgets of their runs. Allow it with `tollgate keys edit ID --run-budgets`, or do not send X-Gateway-Budget-Usd.',
  },
  shutting_down: { status: 503, message: 'The gateway is shutting down.', retryable: true },
  gateway_defect: {
    status: 500,
    message: 'The gateway failed on this request. Its log has the details under the request id.',
  },
} as const satisfies Readonly<Record<string, GatewayErrorEntry>>;

export type GatewayErrorCode = keyof typeof GATEWAY_ERRORS;

/** What a refusal has besides its message: flat headers, and details in Google's form. */
export interface RefusalExtras {
  readonly headers: readonly string[];
  readonly details: readonly Readonly<Record<string, string>>[];
}

export function messageWithDetail(code: GatewayErrorCode, detail: string | undefined): string {
  const { message } = GATEWAY_ERRORS[code];
  return detail === undefined ? message : `${message} (${detail})`;
}

/** Thrown before forwarding; one place answers it. */
export class GatewayError extends Error {
  readonly code: GatewayErrorCode;
  readonly extras: RefusalExtras | undefined;
  /** Added to the message: only the gateway's own words, nothing from the request. */
  readonly detail: string | undefined;

  constructor(
    code: GatewayErrorCode,
    options?: ErrorOptions & { readonly detail?: string; readonly extras?: RefusalExtras },
  ) {
    super(GATEWAY_ERRORS[code].message, options);
    this.name = 'GatewayError';
    this.code = code;
    this.detail = options?.detail;
    this.extras = options?.extras;
  }

  get status(): number {
    return GATEWAY_ERRORS[this.code].status;
  }

  get retryable(): boolean {
    const entry: GatewayErrorEntry = GATEWAY_ERRORS[this.code];
    return entry.retryable === true;
  }
}

/** A failure that the operator can fix: shown as one line, without a stack. */
export class OperatorError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'OperatorError';
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The SQLSTATE or the system's error code, or null. */
export function readErrorCode(error: unknown): string | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;
}
