/** Streams a request's body of any size to a reader. The connection stays open. */
import type { IncomingMessage } from 'node:http';
import { ApiError } from './api-error.ts';

/** A stalled client would hold what waits for it. */
const STALL_LIMIT_MS = 60_000;

/** Throws when the client goes away or stalls. A reader that stops early can still be answered. */
export async function* readUpload(incoming: IncomingMessage): AsyncGenerator<Uint8Array> {
  const chunks = incoming.iterator({ destroyOnReturn: false });
  try {
    for (;;) {
      const { promise: stalled, reject } = Promise.withResolvers<never>();
      const timer = setTimeout(
        () => reject(new ApiError(400, 'upload_stalled', 'The upload stood still for a minute; nothing was changed.')),
        STALL_LIMIT_MS,
      );
      try {
        const next: IteratorResult<unknown> = await Promise.race([chunks.next(), stalled]);
        if (next.done === true) return;
        if (!(next.value instanceof Uint8Array)) throw new TypeError('the body of a request is bytes');
        yield next.value;
      } finally {
        clearTimeout(timer);
      }
    }
  } finally {
    // Left open, it would keep the rest from being read, and the connection from its next request.
    chunks.return?.().catch(() => {});
  }
}
