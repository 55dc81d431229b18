import type { MetricDefinition } from './metric.ts';
import { METRICS } from './metric-list.ts';
import { type MetricsDeps, type MetricsSnapshot, takeMetricsSnapshot } from './metrics-snapshot.ts';

/** The library's default would wake an idle process a hundred times a second. */
const EVENT_LOOP_PRECISION_MS = 100;

const LEFT_OUT = ['resources', 'handles', 'requests'].flatMap((what) => [
  `nodejs_active_${what}`,
  `nodejs_active_${what}_total`,
]);

type PromClient = typeof import('prom-client');

/** An unknown metric is absent, not 0. */
function fillRegistry({ Registry, Counter, Gauge }: PromClient, snapshot: MetricsSnapshot) {
  const registry = new Registry();
  for (const { name, help, type, labels, read } of METRICS) {
    const samples = read(snapshot);
    if (samples.length === 0 || type === 'histogram') continue;
    const options = { name, help, labelNames: [...labels], registers: [registry] };
    if (type === 'counter') {
      const metric = new Counter(options);
      for (const { labels: values, value } of samples) metric.inc(values, value);
    } else {
      const metric = new Gauge(options);
      for (const { labels: values, value } of samples) metric.set(values, value);
    }
  }
  return registry;
}

/** The library takes single observations, but ours come counted. Labels need no escapes. */
function writeHistogram({ name, help, read }: MetricDefinition, snapshot: MetricsSnapshot): string {
  const lines = read(snapshot).map(({ part = '', labels, value }) => {
    const pairs = Object.entries(labels).map(([label, text]) => `${label}="${text}"`);
    return `${name}${part}{${pairs.join(',')}} ${value}`;
  });
  return lines.length === 0 ? '' : `\n# HELP ${name} ${help}\n# TYPE ${name} histogram\n${lines.join('\n')}\n\n`;
}

export interface MetricsText {
  readonly contentType: string;
  readonly text: string;
}

export function createMetricsText(deps: MetricsDeps): () => Promise<MetricsText> {
  // Loaded on request, since most gateways are never asked.
  let loading: Promise<{ readonly client: PromClient; readonly ofNode: InstanceType<PromClient['Registry']> }> | null =
    null;

  async function load() {
    const client = await import('prom-client');
    const ofNode = new client.Registry();
    client.collectDefaultMetrics({ register: ofNode, eventLoopMonitoringPrecision: EVENT_LOOP_PRECISION_MS });
    for (const name of LEFT_OUT) ofNode.removeSingleMetric(name);
    return { client, ofNode };
  }

  return async () => {
    loading ??= load();
    const { client, ofNode } = await loading;
    const snapshot = await takeMetricsSnapshot(deps);
    const ours = fillRegistry(client, snapshot);
    const histograms = METRICS.filter(({ type }) => type === 'histogram').map((one) => writeHistogram(one, snapshot));
    const parts = [await ours.metrics(), ...histograms, await ofNode.metrics()];
    return { contentType: ours.contentType, text: parts.join('') };
  };
}
