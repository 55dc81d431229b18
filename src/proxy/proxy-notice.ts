/** A line in the log where a proxy in front says whom it has at its other end, and nobody has said to believe it. */
import type { Logger } from 'pino';

/** Once a process: it is about how the gateway is set up, and any client can write such headers. */
export function createProxyNotice(log: Logger): () => void {
  let isSaid = false;
  return () => {
    if (isSaid) return;
    isSaid = true;
    log.warn(
      'a request came with X-Forwarded-For or the like from an address that TOLLGATE_TRUSTED_PROXIES does not name: if that is a proxy of yours, name it there, or its clients all have its address',
    );
  };
}
