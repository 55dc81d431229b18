/** The results as a table in Markdown. `--json` prints them as they are. */
import type { Percentiles } from '../proxy/programs.ts';
import { median } from '../proxy/statistics.ts';
import type { SameBytes } from './compare-bytes.ts';
import type { AtARate, Chunks, OpenStreams, Saturated } from './measures.ts';

/** A list is empty where the measure was not made; `failures` says why. */
export interface PeerResult {
  readonly name: string;
  readonly version: string;
  readonly keeps: string;
  readonly restMb: number;
  readonly restMsPerSecond: number;
  readonly fullMb: number;
  readonly saturated: readonly Saturated[];
  readonly chunks: readonly Chunks[];
  readonly at200: readonly AtARate[];
  readonly at1000: readonly AtARate[];
  readonly streams: OpenStreams | null;
  readonly bytes: SameBytes | null;
  readonly failures: readonly string[];
}

export interface Surroundings {
  readonly date: string;
  readonly command: string;
  readonly processor: string;
  readonly cores: number;
  readonly kernel: string;
  readonly node: string;
  readonly loadAverage: readonly [number, number];
  readonly missing: readonly string[];
}

const NOTHING = '–';

const ms = (us: number) => (us / 1_000).toFixed(us < 100_000 ? 2 : 0);

function middle(values: readonly number[], digits: number): string {
  return values.length === 0 ? NOTHING : median(values).toFixed(digits);
}

/** Of each round beside the same round of nginx. */
function beside(values: readonly number[], ofNginx: readonly number[]): string {
  const ratios = values.flatMap((value, round) => {
    const other = ofNginx[round];
    return other === undefined ? [] : [value / other];
  });
  return ratios.length === 0 ? '' : ` (${median(ratios).toFixed(2)}×)`;
}

function pair(all: readonly (Percentiles | null)[]): string {
  const known = all.filter((one) => one !== null);
  if (known.length === 0) return NOTHING;
  return `${ms(median(known.map(({ p50 }) => p50)))} / ${ms(median(known.map(({ p99 }) => p99)))}`;
}

function same(bytes: SameBytes | null): string {
  if (bytes === null) return NOTHING;
  const said = (name: string, isSame: boolean | null) =>
    isSame === null ? `${name}: an error` : isSame ? [] : `${name}: changed`;
  const changed = [
    said('request', bytes.request && bytes.streamRequest),
    said('answer', bytes.answer),
    said('stream', bytes.stream),
  ].flat();
  return changed.length === 0 ? 'as they came' : changed.join(', ');
}

const COLUMNS = [
  '',
  'keeps of a call',
  'JSON, saturated: proxy µs (× nginx)',
  'calls/s on one core',
  'whole node µs a call, 1,000/s drained',
  'p50 / p99 ms at 200/s',
  'p50 / p99 ms at 1,000/s',
  'chunk: proxy µs (× nginx)',
  'delay of a chunk, p50 / p99 ms',
  '1,000 streams: first byte p50 / p99 ms',
  'their chunks late by, p50 / p99 ms',
  'KB a stream',
  'memory at rest, then loaded, MB (Pss)',
  'bytes',
];

function rowOf(result: PeerResult, nginx: PeerResult | undefined): string[] {
  const us = (list: readonly { readonly proxyUs: number }[] | undefined) => (list ?? []).map(({ proxyUs }) => proxyUs);
  const drained = result.at1000.every(({ isDrained }) => isDrained) ? '' : ', not drained';
  const { streams } = result;
  return [
    `${result.name} ${result.version}`.trim(),
    result.keeps,
    middle(us(result.saturated), 1) + beside(us(result.saturated), us(nginx?.saturated)),
    middle(
      result.saturated.map(({ perSecond }) => perSecond),
      0,
    ),
    middle(
      result.at1000.map(({ nodeUs }) => nodeUs),
      0,
    ) + drained,
    pair(result.at200.map(({ latencyUs }) => latencyUs)),
    pair(result.at1000.map(({ latencyUs }) => latencyUs)),
    middle(us(result.chunks), 1) + beside(us(result.chunks), us(nginx?.chunks)),
    pair(result.chunks.map(({ delayUs }) => delayUs)),
    pair([streams?.firstByteUs ?? null]),
    pair([streams?.delayUs ?? null]),
    streams === null ? NOTHING : streams.kbPerStream.toFixed(0),
    `${result.restMb.toFixed(0)}, ${result.fullMb.toFixed(0)}`,
    same(result.bytes),
  ];
}

export function reportText(results: readonly PeerResult[], around: Surroundings): string {
  const nginx = results.find(({ name }) => name === 'nginx');
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const failures = results.flatMap(({ name, failures: list }) => list.map((failure) => `- ${name}: ${failure}`));
  const rest = results.map(({ name, restMsPerSecond }) => `${name} ${restMsPerSecond.toFixed(1)}`).join(', ');
  const [before, after] = around.loadAverage;
  return [
    `${around.date}; ${around.processor}, ${around.cores} cores, Linux ${around.kernel}; Node ${around.node}; \`${around.command}\`; load average ${before.toFixed(1)} before, ${after.toFixed(1)} after`,
    '',
    line(COLUMNS),
    line(COLUMNS.map(() => '---')),
    ...results.map((result) => line(rowOf(result, nginx))),
    '',
    `At rest, ms of CPU a second, taken off the whole node's figure: ${rest}.`,
    ...(failures.length === 0 ? [] : ['', 'Not measured:', ...failures]),
    ...(around.missing.length === 0 ? [] : ['', 'Left out:', ...around.missing.map((one) => `- ${one}`)]),
  ].join('\n');
}
