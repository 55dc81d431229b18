/** One window of load against one peer, and the figures of it. Rounds and ratios are `rounds.ts`. */
import { STREAM_CHUNKS } from './answers.ts';
import type { Peer } from './peer.ts';
import { readCpuNs, readRssKb } from './process-figures.ts';
import { FAST_MS, type LoadFigures, type Percentiles, runLoad } from './programs.ts';
import { requestBytes, type Variant } from './variants.ts';

/** Length of the body of each prepared answer, by name. */
export type BodyLengths = Readonly<Record<Variant['clientSees'], number>>;

export interface Window {
  readonly units: number;
  readonly proxyUsPerUnit: number;
  /** The gateway's other processes in the same window; they do work that is not finished with the call. */
  readonly otherUsPerUnit: number;
  readonly load: LoadFigures;
}

const JSON_SECONDS = 1.6;
/** As long as one stream lasts, so that each stream's beginning and end are in the window once. */
const SSE_SECONDS = (STREAM_CHUNKS * FAST_MS) / 1000;
/** Not a multiple of the pace of 20 ms, so that the streams end up in different phases of it. */
const SSE_SPREAD_SECONDS = 1.013;
const WARM_UP_ROUND_ANSWERS = 2000;

function portOf(peer: Peer, variant: Variant): number {
  return variant.unit === 'chunk' ? peer.ssePort : peer.jsonPort;
}

/** Answers that were not as they must be make the figures worthless: better none than wrong ones. */
function assertClean(peer: Peer, what: string, load: LoadFigures): void {
  if (load.errors + load.badStatus + load.badLength === 0) return;
  const { errors, badStatus, badLength, answers } = load;
  throw new Error(
    `${peer.name}, ${what}: of ${answers} answers ${badStatus} had another status, ${badLength} another length; ${errors} broke`,
  );
}

function countUnits(variant: Variant, load: LoadFigures, bodyBytes: number): number {
  if (variant.unit === 'request') return load.answers;
  // Stamps are not visible in a compressed stream; there the bytes tell how many events they were.
  return load.chunks > 0 ? load.chunks : (load.bodyBytes / bodyBytes) * STREAM_CHUNKS;
}

function requestOf({ gatewayKey, asked = {} }: Peer, { name }: Variant, slow = false): Buffer {
  return requestBytes({ variant: name, gatewayKey, asked, slow });
}

/** By count, not by time: a cold process needs longer for the same work, and would be measured colder. */
export async function warmUp(peer: Peer, variant: Variant, lengths: BodyLengths): Promise<void> {
  for (let left = variant.warmUpAnswers; left > 0; left -= WARM_UP_ROUND_ANSWERS) {
    const load = await runLoad({
      port: portOf(peer, variant),
      request: requestOf(peer, variant),
      connections: variant.connections,
      bodyBytes: lengths[variant.clientSees],
      answers: Math.min(left, WARM_UP_ROUND_ANSWERS),
      ...(variant.unit === 'chunk' ? { spreadSeconds: SSE_SPREAD_SECONDS } : {}),
    });
    assertClean(peer, `warm-up of ${variant.name}`, load);
  }
}

export async function measureCpu(peer: Peer, variant: Variant, lengths: BodyLengths): Promise<Window> {
  const bodyBytes = lengths[variant.clientSees];
  let proxyNs = 0;
  let otherNs = 0;
  const load = await runLoad(
    {
      port: portOf(peer, variant),
      request: requestOf(peer, variant),
      connections: variant.connections,
      bodyBytes,
      ...(variant.unit === 'chunk'
        ? { seconds: SSE_SECONDS, spreadSeconds: SSE_SPREAD_SECONDS, settleSeconds: SSE_SPREAD_SECONDS + 0.3 }
        : { seconds: JSON_SECONDS, settleSeconds: 0.2 }),
    },
    {
      onBegin: () => {
        proxyNs = -readCpuNs(peer.proxyPids);
        otherNs = -readCpuNs(peer.otherPids);
      },
      onEnd: () => {
        proxyNs += readCpuNs(peer.proxyPids);
        otherNs += readCpuNs(peer.otherPids);
      },
    },
  );
  assertClean(peer, variant.name, load);
  const units = countUnits(variant, load, bodyBytes);
  return { units, proxyUsPerUnit: proxyNs / 1000 / units, otherUsPerUnit: otherNs / 1000 / units, load };
}

/** Latency of JSON calls at a rate that no peer is busy with. */
export async function measureLatency(peer: Peer, variant: Variant, lengths: BodyLengths): Promise<LoadFigures> {
  const load = await runLoad({
    port: peer.jsonPort,
    request: requestOf(peer, variant),
    connections: 32,
    bodyBytes: lengths[variant.clientSees],
    rate: 200,
    settleSeconds: 0.3,
    seconds: 2,
  });
  assertClean(peer, 'calls at a low rate', load);
  return load;
}

export interface StreamMemory {
  readonly streams: number;
  readonly openStreams: number;
  readonly restMb: number;
  readonly peakMb: number;
  readonly kbPerStream: number;
  readonly firstByteUs: Percentiles | null;
  readonly chunkDelayUs: Percentiles | null;
}

/** Memory of a fresh process at rest, and at most while so many streams are open, each with one event in two seconds. */
export async function measureStreams(peer: Peer, variant: Variant, streams: number): Promise<StreamMemory> {
  const restKb = readRssKb(peer.proxyPids);
  let peakKb = restKb;
  const watch = setInterval(() => {
    peakKb = Math.max(peakKb, readRssKb(peer.proxyPids));
  }, 250);
  try {
    const spreadSeconds = streams / 600;
    const load = await runLoad({
      port: peer.ssePort,
      request: requestOf(peer, variant, true),
      connections: streams,
      bodyBytes: 0,
      spreadSeconds,
      // From the first streams on, so that their first bytes are in the window.
      settleSeconds: 0.1,
      seconds: spreadSeconds + 7,
    });
    assertClean(peer, `${streams} streams`, load);
    return {
      streams,
      openStreams: load.openStreams,
      restMb: restKb / 1024,
      peakMb: peakKb / 1024,
      kbPerStream: (peakKb - restKb) / streams,
      firstByteUs: load.firstByteUs,
      chunkDelayUs: load.chunkDelayUs,
    };
  } finally {
    clearInterval(watch);
  }
}
