/** One measure of one gateway each. What is compared with what, and how often: `run.ts`. */
import { setTimeout as sleep } from 'node:timers/promises';
import { readCpuNs, readPssKb } from '../proxy/process-figures.ts';
import { type LoadFigures, type LoadOptions, type Percentiles, runLoad } from '../proxy/programs.ts';
import { requestBytes, type Variant } from '../proxy/variants.ts';
import type { PeerGateway } from './peer-gateway.ts';

const CONNECTIONS = 64;
const SATURATED_SECONDS = 1.6;
/** As long as one stream of the provider takes. */
const STREAM_SECONDS = 4;
/** No multiple of the provider's pace, so that streams do not move in step. */
const SPREAD_SECONDS = 1.013;
const CHUNK_STREAMS = 100;
const REST_SECONDS = 2;
/** A gateway whose processes take no more than this beyond what they take at rest has nothing left to do. */
const QUIET_MS_PER_SECOND = 10;
const DRAIN_POLL_MS = 500;
const DRAIN_LIMIT_MS = 60_000;
const STREAMS_A_SECOND = 600;

type Asked = Omit<LoadOptions, 'port' | 'request' | 'bodyBytes'>;

/** Lengths are not checked, since some gateways write bodies anew. */
async function load(
  peer: PeerGateway,
  variant: Variant,
  asked: Asked,
  edges: { readonly onBegin?: () => void; readonly onEnd?: () => void } = {},
  slow = false,
): Promise<LoadFigures> {
  const { gatewayKey, asked: way = {} } = peer;
  const request = requestBytes({ variant: variant.name, gatewayKey, slow, asked: way });
  const port = variant.unit === 'chunk' ? peer.ssePort : peer.jsonPort;
  const figures = await runLoad({ ...asked, port, request, bodyBytes: 0 }, edges);
  const { errors, badStatus, answers } = figures;
  if (errors + badStatus > 0) throw new Error(`${badStatus} of ${answers} answers had another status, ${errors} broke`);
  return figures;
}

/** By time and by count: a gateway that is slow has fewer calls to get warm by. */
export async function warmUp(peer: PeerGateway, variant: Variant, seconds: number): Promise<void> {
  const asked =
    variant.unit === 'chunk'
      ? { connections: CHUNK_STREAMS, spreadSeconds: SPREAD_SECONDS }
      : { connections: CONNECTIONS };
  await load(peer, variant, { ...asked, seconds });
}

export interface Saturated {
  readonly proxyUs: number;
  readonly perSecond: number;
}

/** As many calls as it can. */
export async function measureSaturated(peer: PeerGateway, variant: Variant): Promise<Saturated> {
  let ns = 0;
  const { answers, seconds } = await load(
    peer,
    variant,
    { connections: CONNECTIONS, seconds: SATURATED_SECONDS, settleSeconds: 0.2 },
    {
      onBegin: () => {
        ns = -readCpuNs(peer.proxyPids());
      },
      onEnd: () => {
        ns += readCpuNs(peer.proxyPids());
      },
    },
  );
  if (answers === 0) throw new Error('no answer came in the window');
  return { proxyUs: ns / 1_000 / answers, perSecond: answers / seconds };
}

export interface Chunks {
  readonly proxyUs: number;
  readonly delayUs: Percentiles | null;
}

export async function measureChunks(peer: PeerGateway, variant: Variant): Promise<Chunks> {
  let ns = 0;
  const { chunks, chunkDelayUs } = await load(
    peer,
    variant,
    {
      connections: CHUNK_STREAMS,
      seconds: STREAM_SECONDS,
      spreadSeconds: SPREAD_SECONDS,
      settleSeconds: SPREAD_SECONDS + 0.3,
    },
    {
      onBegin: () => {
        ns = -readCpuNs(peer.proxyPids());
      },
      onEnd: () => {
        ns += readCpuNs(peer.proxyPids());
      },
    },
  );
  if (chunks === 0) throw new Error('no chunk came in the window');
  return { proxyUs: ns / 1_000 / chunks, delayUs: chunkDelayUs };
}

export async function measureRestMsPerSecond(peer: PeerGateway): Promise<number> {
  const before = readCpuNs(peer.allPids());
  await sleep(REST_SECONDS * 1_000);
  return (readCpuNs(peer.allPids()) - before) / 1e6 / REST_SECONDS;
}

export interface AtARate {
  readonly latencyUs: Percentiles | null;
  /** CPU of all its processes for each call, until nothing waits any more, without what they take at rest. */
  readonly nodeUs: number;
  readonly isDrained: boolean;
}

/** Calls at a rate, whatever the answers do; nothing is pinned. */
export async function measureAtRate(
  peer: PeerGateway,
  variant: Variant,
  {
    rate,
    seconds,
    restMsPerSecond,
  }: { readonly rate: number; readonly seconds: number; readonly restMsPerSecond: number },
): Promise<AtARate> {
  const startedMs = performance.now();
  const before = readCpuNs(peer.allPids());
  const settleSeconds = 0.5;
  const { latencyUs } = await load(peer, variant, {
    connections: CONNECTIONS,
    rate,
    seconds,
    settleSeconds,
    isPinned: false,
  });
  const calls = rate * (seconds + settleSeconds);
  const isDrained = await drain(peer, restMsPerSecond);
  const restNs = restMsPerSecond * (performance.now() - startedMs) * 1_000;
  return { latencyUs, nodeUs: (readCpuNs(peer.allPids()) - before - restNs) / 1_000 / calls, isDrained };
}

/** Waits until nothing waits in it any more; false after a minute. */
export async function drain(peer: PeerGateway, restMsPerSecond: number): Promise<boolean> {
  const limitMs = performance.now() + DRAIN_LIMIT_MS;
  let quietTurns = 0;
  while (performance.now() < limitMs) {
    const [before, fromMs] = [readCpuNs(peer.allPids()), performance.now()];
    await sleep(DRAIN_POLL_MS);
    const seconds = (performance.now() - fromMs) / 1_000;
    const msPerSecond = (readCpuNs(peer.allPids()) - before) / 1e6 / seconds;
    quietTurns = msPerSecond <= restMsPerSecond * 1.2 + QUIET_MS_PER_SECOND ? quietTurns + 1 : 0;
    // Some work comes in turns of a second.
    if (quietTurns * DRAIN_POLL_MS >= 1_500) return true;
  }
  return false;
}

export interface OpenStreams {
  readonly openStreams: number;
  readonly firstByteUs: Percentiles | null;
  readonly delayUs: Percentiles | null;
  readonly kbPerStream: number;
}

/** So many streams open at once, each with an event in two seconds. */
export async function measureOpenStreams(peer: PeerGateway, variant: Variant, streams: number): Promise<OpenStreams> {
  const restKb = readPssKb(peer.proxyPids());
  let mostKb = restKb;
  const watch = setInterval(() => {
    mostKb = Math.max(mostKb, readPssKb(peer.proxyPids()));
  }, 500);
  const spreadSeconds = streams / STREAMS_A_SECOND;
  try {
    const { openStreams, firstByteUs, chunkDelayUs } = await load(
      peer,
      variant,
      // From the first stream on, so that first bytes are in the window.
      { connections: streams, spreadSeconds, settleSeconds: 0.1, seconds: spreadSeconds + 4, isPinned: false },
      {},
      true,
    );
    return { openStreams, firstByteUs, delayUs: chunkDelayUs, kbPerStream: (mostKb - restKb) / streams };
  } finally {
    clearInterval(watch);
  }
}

export function readMemoryMb(peer: PeerGateway): number {
  return readPssKb(peer.allPids()) / 1_024;
}
