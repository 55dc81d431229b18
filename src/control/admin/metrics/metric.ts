/** What a metric is, and how one without labels is made. */
import type { MetricsSnapshot } from './metrics-snapshot.ts';

export interface MetricSample {
  /** A suffix for the parts of a histogram. */
  readonly part?: '_bucket' | '_sum' | '_count';
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface MetricDefinition {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly labels: readonly string[];
  readonly read: (snapshot: MetricsSnapshot) => readonly MetricSample[];
}

type Value = number | boolean | null | undefined;
type Read = (snapshot: MetricsSnapshot) => Value;

function one(type: MetricDefinition['type'], name: string, help: string, read: Read): MetricDefinition {
  const readSamples = (snapshot: MetricsSnapshot): readonly MetricSample[] => {
    const value = read(snapshot);
    return value === null || value === undefined ? [] : [{ labels: {}, value: Number(value) }];
  };
  return { name, help, type, labels: [], read: readSamples };
}

export const counter = (name: string, help: string, read: Read) => one('counter', name, help, read);
export const gauge = (name: string, help: string, read: Read) => one('gauge', name, help, read);
