/**
 * Hands a change of the keys to every proxy process and says when all of them have it, so that creating or revoking a
 * key can be answered when it is true everywhere. It keeps no keys.
 */
import type { DownMessage, KeyChange } from '../channel.ts';

/** A proxy that has not applied a change by then is reported as not confirmed. */
const CONFIRM_LIMIT_MS = 5_000;

/** What is needed of a proxy process; the object itself is its identity. */
export interface KeyReceiver {
  readonly send: (message: DownMessage) => boolean;
}

export interface KeyPublication {
  readonly publish: (change: KeyChange, proxies: readonly KeyReceiver[]) => void;
  readonly applied: (proxy: KeyReceiver, version: number) => void;
  /** A process works now: it is given the last change again, which may have come while it was reading the file. */
  readonly ready: (proxy: KeyReceiver) => void;
  /** Since the start nothing was published: what is on file is what was known before. */
  readonly areKeysOld: () => boolean;
  /** A process ended: the one that follows reads the file, so nothing is waited for. */
  readonly ended: (proxy: KeyReceiver) => void;
}

export function createKeyPublication(
  report: (version: number, confirmed: boolean) => void,
  limitMs: number = CONFIRM_LIMIT_MS,
): KeyPublication {
  let last: KeyChange | null = null;
  /** By version: the proxies that have not answered. Bounded by time: an entry lives for `limitMs`. */
  const waiting = new Map<number, { readonly missing: Set<KeyReceiver>; readonly timer: NodeJS.Timeout }>();

  function finish(version: number, confirmed: boolean): void {
    const entry = waiting.get(version);
    if (entry === undefined) return;
    clearTimeout(entry.timer);
    waiting.delete(version);
    report(version, confirmed);
  }

  function strike(proxy: KeyReceiver, upTo: number): void {
    for (const [version, { missing }] of [...waiting]) {
      if (version > upTo) continue;
      missing.delete(proxy);
      if (missing.size === 0) finish(version, true);
    }
  }

  return {
    publish: (change, proxies) => {
      finish(change.version, false);
      last = change;
      // Without a running process `send` is false: whoever starts later reads the file, which is written before.
      const missing = new Set(proxies.filter((proxy) => proxy.send({ type: 'keys-changed', change })));
      waiting.set(change.version, {
        missing,
        timer: setTimeout(() => finish(change.version, false), limitMs),
      });
      if (missing.size === 0) finish(change.version, true);
    },
    applied: strike,
    ready: (proxy) => {
      if (last !== null) proxy.send({ type: 'keys-changed', change: last });
    },
    areKeysOld: () => last === null,
    ended: (proxy) => strike(proxy, Number.POSITIVE_INFINITY),
  };
}
