/**
 * How a forwarded call ended, in the words of the log: its outcome (the table in docs/request-path.md), the status that
 * the client saw, and the error's type and text. Pure; what else the record says is `record.ts`.
 */
import type { Outcome } from '../call-record.ts';
import { GATEWAY_ERRORS, type GatewayErrorCode } from '../errors.ts';
import type { Provider } from '../providers/provider.ts';
import type { Shortfall, UsageReading } from '../token-usage.ts';
import type { AnswerEnding } from './answer-ending.ts';
import type { AnswerHead } from './answer-head.ts';

/** The provider's, or the gateway's own where no answer began; null when the call was cut before either. */
export function statusSent(ending: AnswerEnding, head: AnswerHead | null): number | null {
  if (head !== null) return head.status;
  const code = refusalOf(ending, head);
  return code === null ? null : GATEWAY_ERRORS[code].status;
}

/** What the client is told where no answer began; null where one did, or where nobody is there to be told. */
export function refusalOf(ending: AnswerEnding, head: AnswerHead | null): GatewayErrorCode | null {
  if (ending.kind === 'no-answer') return ending.failure.code;
  return ending.kind === 'key-ended' && head === null ? ending.code : null;
}

/** What the refusal says beyond its code. */
export function detailOf(ending: AnswerEnding): string | undefined {
  return ending.kind === 'no-answer' ? ending.failure.detail : undefined;
}

export function outcomeOf(ending: AnswerEnding, status: number | null, reading: UsageReading | null): Outcome {
  switch (ending.kind) {
    case 'client-gone':
      return 'client_closed';
    case 'shutdown':
    case 'key-ended':
      return 'shutdown_cut';
    case 'no-answer':
      // It was reached, and answered with a redirect that is not passed on.
      return ending.failure.code === 'upstream_redirect' ? 'upstream_error' : 'upstream_unreachable';
    case 'upstream-cut':
      return 'upstream_truncated';
    case 'delivered':
      return reading?.error == null ? 'ok' : 'upstream_stream_error';
    case 'complete':
      if (status !== null && status >= 400) return 'upstream_error';
      if (reading?.error != null) return 'upstream_stream_error';
      // As HTTP it was whole, and so the client got it; as what it was announced to be it is not.
      return reading?.shortfall === undefined ? 'ok' : 'upstream_truncated';
  }
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
};

/** The provider's own words where it said something, else the gateway's. */
export function errorOf(
  ending: AnswerEnding,
  reading: UsageReading | null,
  head: AnswerHead | null,
  provider: Provider,
): { type: string | null; message: string | null } {
  if (ending.kind === 'key-ended') {
    const how = ending.code === 'key_revoked' ? 'was revoked' : 'expired';
    return { type: ending.code, message: `The gateway key ${how} while the call was open, and the call was cut.` };
  }
  if (reading?.error != null) {
    const { type, message } = reading.error;
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
    // Of the cause its system code only: its text can hold addresses.
    const detail = 'code' in cause && typeof cause.code === 'string' ? ` (${cause.code})` : '';
    if (ending.kind === 'no-answer') return { type: code, message: `${GATEWAY_ERRORS[code].message}${detail}` };
    // The provider was reached: only a silence or a breach of the protocol has a name of its own.
    const type = code === 'upstream_unreachable' ? 'upstream_cut' : code;
    return { type, message: `The answer was cut before its end.${detail}` };
  }
  if (ending.kind === 'complete' && reading?.shortfall !== undefined) return SHORTFALLS[reading.shortfall];
  return { type: null, message: null };
}
