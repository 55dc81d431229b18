/** Sends a change of the keys to every proxy and reports when all have applied it. It keeps no keys. */
import type { DownMessage, KeyChange } from '../vocabulary/channel.ts';

/** A change that a proxy has not applied by then is reported as unconfirmed. */
const CONFIRM_LIMIT_MS = 5_000;

export interface KeyReceiver {
  readonly send: (message: DownMessage) => boolean;
}

export interface KeyPublication {
  readonly publish: (change: KeyChange, proxies: readonly KeyReceiver[]) => void;
  readonly applied: (proxy: KeyReceiver, version: number) => void;
  /** Sends the last change to a new process, which may have missed it while reading the file. */
  readonly ready: (proxy: KeyReceiver) => void;
  /** Nothing was published since the start: the file has the keys of before. */
  readonly areKeysOld: () => boolean;
  /** A process ended: its successor reads the file, so nothing is waited for. */
  readonly ended: (proxy: KeyReceiver) => void;
}

export function createKeyPublication(
  report: (version: number, confirmed: boolean) => void,
  limitMs: number = CONFIRM_LIMIT_MS,
): KeyPublication {
  let last: KeyChange | null = null;
  /** The proxies that have not answered, by version. An entry lives for `limitMs`. */
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
      // `send` is false without a running process; one that starts later reads the file, which is written before.
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
