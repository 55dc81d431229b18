/** The last figures of each proxy process, summed over those that came and went. In memory only. */

import type { ProxyMetrics, StepHistogram, SupervisorStatus } from '../../vocabulary/channel.ts';
import { recordOf } from '../../vocabulary/record-of.ts';
import type { ProxyCounts } from '../admin/admin-deps.ts';

/** Processes of a crash loop come and go every second. */
const MAX_PROCESSES = 200;

/** Counters that start at 0 with the proxy. */
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
  readonly lastOf: (spoolName: string) => ProxyMetrics | null;
  readonly counts: () => ProxyCounts;
}

export function createProxyMemory(startedAtMs: number): ProxyMemory {
  const last = new Map<string, ProxyMetrics>();
  const counts: Record<(typeof COUNTED)[number], number> = { ...recordOf(COUNTED, () => 0) };
  const refusals = new Map<string, number>();
  const steps = new Map<string, StepHistogram>();

  function add(before: ProxyMetrics | null, metrics: ProxyMetrics): void {
    for (const name of COUNTED) counts[name] += Math.max(0, (metrics[name] ?? 0) - (before?.[name] ?? 0));
    for (const [code, calls] of Object.entries(metrics.refusals ?? {})) {
      const more = calls - (before?.refusals?.[code] ?? 0);
      refusals.set(code, (refusals.get(code) ?? 0) + Math.max(0, more));
    }
    for (const [name, step] of Object.entries(metrics.steps ?? {})) {
      const [sum, old] = [steps.get(name), before?.steps?.[name]];
      steps.set(name, {
        counts: step.counts.map((count, index) => (sum?.counts[index] ?? 0) + count - (old?.counts[index] ?? 0)),
        seconds: (sum?.seconds ?? 0) + step.seconds - (old?.seconds ?? 0),
      });
    }
  }

  return {
    note: (status) => {
      for (const child of status.children) {
        const { metrics } = child;
        if (metrics === null) continue;
        const before = last.get(metrics.spoolName) ?? null;
        // The figures of a process from before this one began are no news.
        if (before !== null || child.startedAtMs >= startedAtMs) add(before, metrics);
        last.delete(metrics.spoolName);
        last.set(metrics.spoolName, metrics);
        const [oldest] = last.keys();
        if (last.size > MAX_PROCESSES && oldest !== undefined) last.delete(oldest);
      }
    },
    lastOf: (spoolName) => last.get(spoolName) ?? null,
    counts: () => ({ ...counts, refusals: Object.fromEntries(refusals), steps: Object.fromEntries(steps) }),
  };
}
