/**
 * Keeps a run token valid as long as its program lives. It has little time each, so that one whose `tollgate run` was
 * killed ends soon by itself. By the clock on the wall: a laptop that has slept renews it as it wakes.
 */

/** One that is not renewed ends after so long. */
export const TOKEN_SECONDS = 900;
const RENEW_AFTER_MS = 300_000;
/** Also how long a laptop that wakes up may go with an ended token. */
const LOOK_MS = 2_000;
/** After a renewal that failed, such as while the gateway restarts. */
const RETRY_MS = 20_000;

export interface TokenKeeper {
  readonly nowMs: () => number;
  readonly renew: () => Promise<void>;
}

/** Returns the function that stops it. A failure is not told: the calls tell it better, once the token has ended. */
export function keepToken({ nowMs, renew }: TokenKeeper): () => void {
  let dueMs = nowMs() + RENEW_AFTER_MS;
  let isRenewing = false;
  const timer = setInterval(async () => {
    if (isRenewing || nowMs() < dueMs) return;
    isRenewing = true;
    try {
      await renew();
      dueMs = nowMs() + RENEW_AFTER_MS;
    } catch {
      dueMs = nowMs() + RETRY_MS;
    }
    isRenewing = false;
  }, LOOK_MS);
  return () => clearInterval(timer);
}
