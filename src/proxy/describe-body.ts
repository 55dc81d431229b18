/** Bodies as the log stores them: whole, or their head and tail. */
import type { CallBegin, CallBody } from '../vocabulary/call-record.ts';
import { type BodyCopy, STORED_BODY_BYTES } from './body-copy.ts';
import type { CallContext } from './call-context.ts';
import { redactSent } from './redact-sent.ts';

export function describeHeldBody(begin: CallBegin, { request, headers }: CallContext, bytes: Buffer): CallBody {
  const half = STORED_BODY_BYTES / 2;
  const isWhole = bytes.length <= STORED_BODY_BYTES;
  return {
    id: begin.id,
    requestedAtMs: begin.requestedAtMs,
    direction: 'request',
    contentType: redactSent(request.header('content-type') ?? '', headers.sent) || null,
    contentEncoding: request.header('content-encoding') ?? null,
    totalBytes: bytes.length,
    headBytes: isWhole ? bytes.length : half,
    bytes: isWhole ? bytes : Buffer.concat([bytes.subarray(0, half), bytes.subarray(bytes.length - half)]),
  };
}

export function describeCopiedBody(
  begin: CallBegin,
  direction: CallBody['direction'],
  header: (name: string) => string | null | undefined,
  copy: BodyCopy,
): CallBody {
  const { bytes, headBytes } = copy.read();
  return {
    id: begin.id,
    requestedAtMs: begin.requestedAtMs,
    direction,
    contentType: header('content-type') ?? null,
    contentEncoding: header('content-encoding') ?? null,
    totalBytes: copy.totalBytes,
    headBytes,
    bytes,
  };
}
