/** The short form of an ending for a spool that is nearly full. */
import type { CallEnd } from '../vocabulary/call-record.ts';

const MAX_ERROR_CHARS = 100;

/** Returns `end` itself when it is short already. */
export function compactEnd(end: CallEnd, lostBodies: boolean): CallEnd {
  const { flags, usage } = end;
  const isCompact = flags.includes('compacted');
  const needsBodyFlag = lostBodies && !flags.includes('body_dropped');
  if (isCompact && !needsBodyFlag) return end;
  return {
    ...end,
    errorMessage: end.errorMessage?.slice(0, MAX_ERROR_CHARS) ?? null,
    usage: usage === null ? null : { ...usage, native: {} },
    flags: [
      ...flags,
      ...(isCompact ? [] : ['compacted' as const]),
      ...(needsBodyFlag ? ['body_dropped' as const] : []),
    ],
    requestHeaders: [],
    responseHeaders: [],
  };
}
