/** Outcome, status and error of a forwarded call for the log (table in docs/request-path.md). Pure. */

import type { Provider } from '../providers/provider.ts';
import type { Outcome } from '../vocabulary/call-record.ts';
import { GATEWAY_ERRORS, type GatewayErrorCode } from '../vocabulary/errors.ts';
import type { ReportedUsage, Shortfall } from '../vocabulary/token-usage.ts';
import type { AnswerEnding } from './answer-ending.ts';
import type { AnswerHead } from './answer-head.ts';
import type { KeyEnd } from './key-end.ts';

/** The provider's status, or the gateway's own; null when the call was cut before either. */
export function statusSent(ending: AnswerEnding, head: AnswerHead | null): number | null {
  if (head !== null) return head.status;
  const code = refusalOf(ending, head);
  return code === null ? null : GATEWAY_ERRORS[code].status;
}

/** The refusal code for the client; null where an answer began or nobody is left to be told. */
export function refusalOf(ending: AnswerEnding, head: AnswerHead | null): GatewayErrorCode | null {
  if (ending.kind === 'no-answer') return ending.failure.code;
  return ending.kind === 'key-ended' && head === null ? ending.code : null;
}

export function outcomeOf(ending: AnswerEnding, status: number | null, reported: ReportedUsage | null): Outcome {
  switch (ending.kind) {
    case 'client-gone':
      return 'client_closed';
    case 'shutdown':
    case 'key-ended':
      return 'shutdown_cut';
    case 'no-answer':
      return outcomeOfFailure(ending.failure.code);
    case 'upstream-cut':
      return isOfClient(ending.failure.code) ? 'client_closed' : 'upstream_truncated';
    case 'delivered':
      return reported?.error == null ? 'ok' : 'upstream_stream_error';
    case 'complete':
      if (status !== null && status >= 400) return 'upstream_error';
      if (reported?.error != null) return 'upstream_stream_error';
      // The answer was whole as HTTP, but not in its announced format.
      return reported?.shortfall === undefined ? 'ok' : 'upstream_truncated';
  }
}

function outcomeOfFailure(code: GatewayErrorCode): Outcome {
  if (isOfClient(code)) return 'rejected';
  // The provider was reached, and its redirect was not passed on.
  return code === 'upstream_redirect' ? 'upstream_error' : 'upstream_unreachable';
}

/** The client fell silent within a body that was already on its way to the provider. */
export function isOfClient(code: GatewayErrorCode): boolean {
  return code === 'request_timeout';
}

const SHORTFALLS: Readonly<Record<Shortfall, { type: string; message: string }>> = {
  ended_early: {
    type: 'upstream_ended_early',
    message: 'The answer was delivered whole by HTTP, and stops before the last event of its format.',
  },
  not_json: {
    type: 'upstream_not_json',
    message: 'The answer was delivered whole by HTTP; it was announced as JSON, and is none.',
  },
  not_decodable: {
    type: 'upstream_not_decodable',
    message: 'The answer was delivered whole by HTTP, and its bytes are not in the coding that Content-Encoding names.',
  },
};

const KEY_ENDS: Readonly<Record<KeyEnd, string>> = {
  key_revoked: 'The gateway key was revoked',
  key_expired: 'The gateway key expired',
  run_token_ended: 'The run token ended',
  rate_limit_exceeded: 'A limit of the gateway was reached',
  model_not_allowed: 'The client asked for a model that its gateway key does not allow',
  paused: 'The run or its key was paused',
  budget_exceeded: 'A budget refused a turn',
};

/** The provider's own words where there are any, else the gateway's. */
export function errorOf(
  ending: AnswerEnding,
  reported: ReportedUsage | null,
  head: AnswerHead | null,
  provider: Provider,
): { type: string | null; message: string | null } {
  if (ending.kind === 'key-ended') {
    return { type: ending.code, message: `${KEY_ENDS[ending.code]} while the call was open, and the call was cut.` };
  }
  if (reported?.error != null) {
    const { type, message } = reported.error;
    const header = provider.errorTypeHeader;
    const named = header === null ? null : (head?.header(header)?.split(':')[0] ?? null);
    return { type: type ?? named, message };
  }
  if (ending.kind === 'client-gone' && ending.isStalled) {
    return { type: 'client_stalled', message: 'The client took nothing of the answer for too long, and was cut off.' };
  }
  if (ending.kind === 'no-answer' || ending.kind === 'upstream-cut') {
    const { code, cause, detail: said } = ending.failure;
    if (said !== undefined) return { type: code, message: `${GATEWAY_ERRORS[code].message} (${said})` };
    if (isOfClient(code)) return { type: code, message: GATEWAY_ERRORS[code].message };
    // Only the system code of the cause, since its text can hold addresses.
    const detail = 'code' in cause && typeof cause.code === 'string' ? ` (${cause.code})` : '';
    if (ending.kind === 'no-answer') return { type: code, message: `${GATEWAY_ERRORS[code].message}${detail}` };
    // The provider was reached, so the call was cut; only a silence or a protocol breach has its own name.
    const type = code === 'upstream_unreachable' ? 'upstream_cut' : code;
    return { type, message: `The answer was cut before its end.${detail}` };
  }
  if (ending.kind === 'complete' && reported?.shortfall !== undefined) return SHORTFALLS[reported.shortfall];
  return { type: null, message: null };
}
