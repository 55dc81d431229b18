/** How each provider's clients are told of a limit: its own headers, and `retry-after` for all. */
import type { ErrorFamily } from '../../providers/provider.ts';
import type { RefusalExtras } from '../../vocabulary/errors.ts';
import type { LimitRefusal } from '../../vocabulary/limit.ts';

const RETRY_INFO = 'type.googleapis.com/google.rpc.RetryInfo';

/** `nowMs`: by the clock on the wall. */
export function describeLimit(family: ErrorFamily, refusal: LimitRefusal, nowMs: number): RefusalExtras {
  const { retryAfterMs } = refusal;
  const seconds = Math.ceil(retryAfterMs / 1_000);
  return {
    // In milliseconds, too: OpenAI's and Anthropic's SDKs read that first.
    headers: ['Retry-After', String(seconds), 'retry-after-ms', String(retryAfterMs), ...own(family, refusal, nowMs)],
    details: family === 'google' ? [{ '@type': RETRY_INFO, retryDelay: `${seconds}s` }] : [],
  };
}

/** They have none for calls at the same time. AWS and Google have none at all. */
function own(family: ErrorFamily, { kind, limit, remaining, retryAfterMs }: LimitRefusal, nowMs: number): string[] {
  if (kind === 'slots') return [];
  const [most, left] = [String(limit), String(remaining)];
  switch (family) {
    case 'chat':
      return [
        `x-ratelimit-limit-${kind}`,
        most,
        `x-ratelimit-remaining-${kind}`,
        left,
        `x-ratelimit-reset-${kind}`,
        retryAfterMs < 1_000 ? `${retryAfterMs}ms` : `${(retryAfterMs / 1_000).toFixed(3)}s`,
      ];
    case 'messages':
      return [
        `anthropic-ratelimit-${kind}-limit`,
        most,
        `anthropic-ratelimit-${kind}-remaining`,
        left,
        `anthropic-ratelimit-${kind}-reset`,
        new Date(nowMs + retryAfterMs).toISOString(),
      ];
    case 'google':
    case 'aws':
      return [];
  }
}
