/** The text that `/metrics` answers with. No route. */
import { METRICS } from './metric-list.ts';
import { type MetricsDeps, type MetricsSnapshot, takeMetricsSnapshot } from './metrics-snapshot.ts';

/** The library looks at the event loop this often; its own default wakes an idle process a hundred times a second. */
const EVENT_LOOP_PRECISION_MS = 100;

/** Gauges of the library that are named like counters, and what belongs to them. */
const LEFT_OUT = ['resources', 'handles', 'requests'].flatMap((what) => [
  `nodejs_active_${what}`,
  `nodejs_active_${what}_total`,
]);

type PromClient = typeof import('prom-client');

/** Those that have a value: a metric that cannot be known is absent, not 0. */
function fillRegistry({ Registry, Counter, Gauge }: PromClient, snapshot: MetricsSnapshot) {
  const registry = new Registry();
  for (const { name, help, type, labels, read } of METRICS) {
    const samples = read(snapshot);
    if (samples.length === 0) continue;
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

export interface MetricsText {
  readonly contentType: string;
  readonly text: string;
}

export function createMetricsText(deps: MetricsDeps): () => Promise<MetricsText> {
  // Loaded when somebody asks: most gateways are never asked.
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
    const ours = fillRegistry(client, await takeMetricsSnapshot(deps));
    return { contentType: ours.contentType, text: `${await ours.metrics()}${await ofNode.metrics()}` };
  };
}
