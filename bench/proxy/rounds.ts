/** Interleaved rounds and what they say: medians, and the median of per-round ratios with its interval. */
import { type BodyLengths, measureCpu, measureLatency, type Window } from './measure.ts';
import type { Peer } from './peer.ts';
import { bootstrapInterval, type Interval, median } from './statistics.ts';
import { BUDGETS, type Variant } from './variants.ts';

export interface Verdict {
  readonly first: number;
  readonly next: number;
  readonly holdsFirst: boolean;
  readonly holdsNext: boolean;
}

export interface CpuResult {
  readonly variant: string;
  readonly title: string;
  readonly unit: string;
  readonly peerUs: number;
  readonly gatewayUs: number;
  /** The gateway's other processes (supervisor, control, database), not part of the ratio. */
  readonly otherUs: number;
  readonly ratio: number;
  readonly interval: Interval;
  readonly budget: Verdict;
  readonly peerPerSecond: number;
  readonly gatewayPerSecond: number;
  /** Null where the chunks carry no readable stamp. */
  readonly chunkDelayMs: { readonly peer: number; readonly gateway: number } | null;
  readonly rounds: readonly { readonly peerUs: number; readonly gatewayUs: number }[];
}

export function verdict(value: number, budget: { readonly first: number; readonly next: number }): Verdict {
  return { ...budget, holdsFirst: value <= budget.first, holdsNext: value <= budget.next };
}

/** In each round both are measured, and the order changes from round to round: a drift of the machine meets both. */
function inTurn<T>(round: number, pair: readonly [T, T]): readonly T[] {
  return round % 2 === 0 ? pair : [pair[1], pair[0]];
}

export interface Pair {
  readonly peer: Peer;
  readonly gateway: Peer;
}

function medianDelayMs(windows: readonly Window[]): number | null {
  const delays = windows.flatMap((window) => window.load.chunkDelayUs?.p50 ?? []);
  return delays.length === 0 ? null : median(delays) / 1000;
}

export async function runCpuRounds(
  pair: Pair,
  variant: Variant,
  lengths: BodyLengths,
  rounds: number,
): Promise<CpuResult> {
  const windows: { readonly peer: Window[]; readonly gateway: Window[] } = { peer: [], gateway: [] };
  for (let round = 0; round < rounds; round++) {
    for (const side of inTurn(round, ['peer', 'gateway'] as const)) {
      windows[side].push(await measureCpu(pair[side], variant, lengths));
    }
  }
  const us = (side: 'peer' | 'gateway') => windows[side].map((window) => window.proxyUsPerUnit);
  const perSecond = (side: 'peer' | 'gateway') => median(windows[side].map((w) => w.units / w.load.seconds));
  const both = us('gateway').map((gatewayUs, round) => ({ peerUs: us('peer')[round] ?? Number.NaN, gatewayUs }));
  const ratios = both.map((round) => round.gatewayUs / round.peerUs);
  const ratio = median(ratios);
  const [peerDelay, gatewayDelay] = [medianDelayMs(windows.peer), medianDelayMs(windows.gateway)];
  return {
    variant: variant.name,
    title: variant.title,
    unit: variant.unit,
    peerUs: median(us('peer')),
    gatewayUs: median(us('gateway')),
    otherUs: median(windows.gateway.map((window) => window.otherUsPerUnit)),
    ratio,
    interval: bootstrapInterval(ratios),
    budget: verdict(ratio, variant.budget),
    peerPerSecond: perSecond('peer'),
    gatewayPerSecond: perSecond('gateway'),
    chunkDelayMs: peerDelay === null || gatewayDelay === null ? null : { peer: peerDelay, gateway: gatewayDelay },
    rounds: both,
  };
}

export interface LatencyResult {
  readonly directP50Ms: number;
  readonly peerP50Ms: number;
  readonly gatewayP50Ms: number;
  /** What the gateway adds beyond what the peer adds. */
  readonly overPeerMs: number;
  readonly interval: Interval;
  readonly budget: Verdict;
}

export async function runLatencyRounds(
  pair: Pair,
  direct: Peer,
  variant: Variant,
  lengths: BodyLengths,
  rounds: number,
): Promise<LatencyResult> {
  const p50 = async (peer: Peer) =>
    ((await measureLatency(peer, variant, lengths)).latencyUs?.p50 ?? Number.NaN) / 1000;
  const all: { readonly direct: number; readonly peer: number; readonly gateway: number }[] = [];
  for (let round = 0; round < rounds; round++) {
    const times = { direct: await p50(direct), peer: 0, gateway: 0 };
    for (const side of inTurn(round, ['peer', 'gateway'] as const)) times[side] = await p50(pair[side]);
    all.push(times);
  }
  const differences = all.map((times) => times.gateway - times.peer);
  const overPeerMs = median(differences);
  return {
    directP50Ms: median(all.map((times) => times.direct)),
    peerP50Ms: median(all.map((times) => times.peer)),
    gatewayP50Ms: median(all.map((times) => times.gateway)),
    overPeerMs,
    interval: bootstrapInterval(differences),
    budget: verdict(overPeerMs, BUDGETS.addedP50MsOverPeer),
  };
}
