/** The results as text for a reader. `--json` prints the same results as they are. */
import { judgeChange, KNOWN_RATIOS } from './known-ratios.ts';
import type { StreamMemory } from './measure.ts';
import { NGINX } from './nginx.ts';
import type { Percentiles } from './programs.ts';
import type { CpuResult, LatencyResult, Verdict } from './rounds.ts';

export interface MemoryResult {
  readonly peer: StreamMemory;
  readonly gateway: StreamMemory;
  readonly rest: Verdict;
  readonly perStream: Verdict;
}

export interface Results {
  /** What the ratios are to: nginx, the gateway of another checkout, or this one without what is measured. */
  readonly peer: string;
  readonly versions: Readonly<Record<string, string>>;
  readonly rounds: number;
  /** Load average of one minute, before and after: far above 1 means that neighbours were measured too. */
  readonly loadAverage: readonly [number, number];
  readonly cpu: readonly CpuResult[];
  readonly latency: LatencyResult | null;
  readonly chunkDelay: Verdict | null;
  readonly memory: readonly MemoryResult[];
}

const f1 = (value: number) => value.toFixed(1);
const f2 = (value: number) => value.toFixed(2);

function budgetText(verdict: Verdict, unit: string): string {
  const mark = (holds: boolean) => (holds ? 'holds' : 'MISSED');
  return `budget ${verdict.first}${unit}: ${mark(verdict.holdsFirst)}; then ${verdict.next}${unit}: ${mark(verdict.holdsNext)}`;
}

function cpuLines(result: CpuResult, peer: string): string[] {
  const { low, high } = result.interval;
  const each = (us: number, perSecond: number) => `${f1(us)} µs per ${result.unit} (${perSecond.toFixed(0)}/s)`;
  return [
    result.title,
    `  ${peer} ${each(result.peerUs, result.peerPerSecond)}, gateway ${each(result.gatewayUs, result.gatewayPerSecond)}`,
    `  ratio ${f2(result.ratio)} [${f2(low)}, ${f2(high)}]   ${budgetText(result.budget, '×')}`,
    `  beside it, not in the ratio: supervisor, control and database ${f1(result.otherUs)} µs`,
    ...(result.chunkDelayMs === null
      ? []
      : [
          `  delay of a chunk, p50: ${peer} ${f2(result.chunkDelayMs.peer)} ms, gateway ${f2(result.chunkDelayMs.gateway)} ms`,
        ]),
  ];
}

function latencyLines(result: LatencyResult, peer: string): string[] {
  const { low, high } = result.interval;
  return [
    'Latency of a JSON call at 200 a second, p50',
    `  direct ${f2(result.directP50Ms)} ms, ${peer} ${f2(result.peerP50Ms)} ms, gateway ${f2(result.gatewayP50Ms)} ms`,
    `  over ${peer} ${f2(result.overPeerMs)} ms [${f2(low)}, ${f2(high)}]   ${budgetText(result.budget, ' ms')}`,
  ];
}

const percentiles = (all: Percentiles | null) =>
  all === null ? '-' : `${f2(all.p50 / 1_000)} / ${f2(all.p99 / 1_000)} ms`;

function memoryLines(result: MemoryResult, name: string): string[] {
  const { peer, gateway } = result;
  return [
    `Memory of the proxy process with ${gateway.streams} open streams (${gateway.openStreams} seen open, no error)`,
    `  at rest ${f1(gateway.restMb)} MB (${name} ${f1(peer.restMb)})   ${budgetText(result.rest, ' MB')}`,
    `  at most ${f1(gateway.peakMb)} MB: ${f1(gateway.kbPerStream)} KB a stream (${name} ${f1(peer.kbPerStream)})   ${budgetText(result.perStream, ' KB')}`,
    `  first byte, p50 / p99: ${percentiles(gateway.firstByteUs)} (${name} ${percentiles(peer.firstByteUs)})`,
    `  delay of a chunk, p50 / p99: ${percentiles(gateway.chunkDelayUs)} (${name} ${percentiles(peer.chunkDelayUs)})`,
  ];
}

/** One line for each variant that has a known figure. */
export function verdictText(cpu: readonly CpuResult[]): string {
  const lines = cpu.flatMap(({ variant, ratio, interval }) => {
    const change = judgeChange(variant, ratio, interval);
    const known = Object.entries(KNOWN_RATIOS).find(([name]) => name === variant)?.[1];
    if (change === null || known === undefined) return [];
    const figures = `${f2(ratio)} [${f2(interval.low)}, ${f2(interval.high)}], known ${f2(known)}`;
    return [`  ${variant}: ${change === 'unsure' ? 'unsure, more rounds must tell' : change} (${figures})`];
  });
  return lines.length === 0 ? '' : ['Beside what is known (bench/proxy/known-ratios.ts):', ...lines].join('\n');
}

/** True when the data plane has become dearer than it was. */
export function isWorse(cpu: readonly CpuResult[]): boolean {
  return cpu.some(({ variant, ratio, interval }) => judgeChange(variant, ratio, interval) === 'worse');
}

export function reportText(results: Results): string {
  const [before, after] = results.loadAverage;
  const versions = Object.entries(results.versions).map(([name, version]) => `${name} ${version}`);
  return [
    `${versions.join(', ')}; ${results.rounds} interleaved rounds; load average ${f1(before)} before, ${f1(after)} after`,
    'Ratios are medians of per-round ratios with a bootstrap 95 % interval. Absolute figures belong to this machine.',
    '',
    ...results.cpu.flatMap((result) => [...cpuLines(result, results.peer), '']),
    ...(results.latency === null ? [] : [...latencyLines(results.latency, results.peer), '']),
    ...(results.chunkDelay === null ? [] : [`Delay of a chunk: ${budgetText(results.chunkDelay, ' ms')}`, '']),
    ...results.memory.flatMap((result) => [...memoryLines(result, results.peer), '']),
    ...(results.peer === NGINX ? [verdictText(results.cpu)] : []),
  ].join('\n');
}
