/**
 * The last figures of each proxy process, and what they add up to over processes that came and went while this one
 * lives: a process that is gone took its counters with it. In memory only.
 */
import type { ProxyCounts } from '../../admin/admin-deps.ts';
import type { ProxyMetrics, SupervisorStatus } from '../../channel.ts';

/** Processes that are remembered; those of a crash loop come and go every second. */
const MAX_PROCESSES = 200;

/** Counters of a proxy that start at 0 with it. */
const COUNTED = [
  'callsTotal',
  'rejectedTotal',
  'bodiesDropped',
  'compactedTotal',
  'droppedConnections',
  'failedHandshakes',
] as const;

export interface ProxyMemory {
  readonly note: (status: SupervisorStatus) => void;
  /** Null when nothing is known of it. */
  readonly lastOf: (spoolName: string) => ProxyMetrics | null;
  /** Since this process lives. */
  readonly counts: () => ProxyCounts;
}

export function createProxyMemory(startedAtMs: number): ProxyMemory {
  const last = new Map<string, ProxyMetrics>();
  const counts = {
    ...{ callsTotal: 0, rejectedTotal: 0, bodiesDropped: 0, compactedTotal: 0, droppedConnections: 0 },
    failedHandshakes: 0,
  };
  const refusals = new Map<string, number>();

  function add(before: ProxyMetrics | null, metrics: ProxyMetrics): void {
    for (const name of COUNTED) counts[name] += Math.max(0, (metrics[name] ?? 0) - (before?.[name] ?? 0));
    for (const [code, calls] of Object.entries(metrics.refusals ?? {})) {
      const more = calls - (before?.refusals?.[code] ?? 0);
      refusals.set(code, (refusals.get(code) ?? 0) + Math.max(0, more));
    }
  }

  return {
    note: (status) => {
      for (const child of status.children) {
        const { metrics } = child;
        if (metrics === null) continue;
        const before = last.get(metrics.spoolName) ?? null;
        // What an older process had counted before this one began is no news.
        if (before !== null || child.startedAtMs >= startedAtMs) add(before, metrics);
        last.delete(metrics.spoolName);
        last.set(metrics.spoolName, metrics);
        const [oldest] = last.keys();
        if (last.size > MAX_PROCESSES && oldest !== undefined) last.delete(oldest);
      }
    },
    lastOf: (spoolName) => last.get(spoolName) ?? null,
    counts: () => ({ ...counts, refusals: Object.fromEntries(refusals) }),
  };
}
