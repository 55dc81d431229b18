/**
 * The corpus of malformed and ambiguous input as a whole: what is replayed against which port, what came of it, and what
 * it left behind. Shared by the test, which is quick, and by the program, which also cuts everything and prints a table.
 */
import { once } from 'node:events';
import { type ClientHttp2Session, connect } from 'node:http2';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { DEFAULT_LIMITS } from '../../src/proxy/upstream/upstream-limits.ts';
import { type InProcessProxy, startProxy } from '../proxy/start-proxy.ts';
import { readRawAnswer } from '../read-raw-answer.ts';
import { replayOnAdminPort, startAdminPort } from './admin-port.ts';
import { type Cut, WHOLE } from './cuts.ts';
import { startHostileProvider } from './hostile-provider.ts';
import { HTTP2_CASES, type Http2Outcome } from './http2-cases.ts';
import { replayHttp2 } from './replay-http2.ts';
import { REQUEST_CASES, replayRequest } from './replay-requests.ts';
import { type ClientProtocol, checkRecord, replayResponse } from './replay-responses.ts';
import { classOf } from './request-case.ts';
import { RESPONSE_CASES, type ResponseCase } from './response-cases.ts';
import { startStrictProvider } from './strict-provider.ts';

export interface Leftovers {
  /** After garbage collection, against before. */
  readonly heapGrowthBytes: number;
  readonly rssGrowthBytes: number;
  readonly openCalls: number;
  readonly clientConnections: number;
  readonly http2Sessions: number;
  /** Beginnings of calls in the spool without an ending. */
  readonly unfinishedRecords: number;
}

export interface CorpusPart {
  readonly title: string;
  readonly cases: number;
  readonly exchanges: number;
  /** How often each outcome, of cases. */
  readonly outcomes: ReadonlyMap<string, number>;
  /** One line for each thing that is not as it has to be. */
  readonly wrong: readonly string[];
  readonly leftovers: Leftovers | null;
}

class Tally {
  readonly outcomes = new Map<string, number>();
  readonly wrong: string[] = [];
  exchanges = 0;

  count(outcome: string): void {
    this.outcomes.set(outcome, (this.outcomes.get(outcome) ?? 0) + 1);
  }

  note(where: string, wrong: readonly string[]): void {
    this.exchanges += 1;
    for (const what of wrong) this.wrong.push(`${where}: ${what}`);
  }

  part(title: string, cases: number, leftovers: Leftovers | null): CorpusPart {
    const { exchanges, outcomes, wrong } = this;
    return { title, cases, exchanges, outcomes, wrong, leftovers };
  }
}

/** Requests of HTTP/1.1, each with a second one behind it, against the proxy port. */
export async function runRequests(cuts: readonly Cut[]): Promise<CorpusPart> {
  const provider = await startStrictProvider();
  const proxy = await startProxy(provider.origin);
  try {
    const tally = new Tally();
    await warmUp(proxy);
    const memory = readMemory();
    for (const testCase of REQUEST_CASES) {
      tally.count(classOf(testCase.outcome));
      for (const { name, cut, gapMs } of cuts) {
        tally.note(`${testCase.name} (${name})`, await replayRequest(testCase, proxy, provider, cut, gapMs));
      }
    }
    tally.wrong.push(...(await callAsUsual(proxy)));
    return tally.part('requests over HTTP/1.1, proxy port', REQUEST_CASES.length, await findLeftovers(proxy, memory));
  } finally {
    await proxy.close();
    await provider.close();
  }
}

/** Frames of HTTP/2 against the proxy port. */
export async function runHttp2Requests(cuts: readonly Cut[]): Promise<CorpusPart> {
  const provider = await startStrictProvider();
  const proxy = await startProxy(provider.origin);
  try {
    const tally = new Tally();
    await warmUp(proxy);
    const memory = readMemory();
    for (const testCase of HTTP2_CASES) {
      tally.count(http2ClassOf(testCase.outcome));
      for (const { name, cut, gapMs } of cuts) {
        if (testCase.isOnePacket && name !== WHOLE.name) continue;
        tally.note(`${testCase.name} (${name})`, await replayHttp2(testCase, proxy, provider, cut, gapMs));
      }
    }
    tally.wrong.push(...(await callAsUsual(proxy)));
    return tally.part('requests over HTTP/2, proxy port', HTTP2_CASES.length, await findLeftovers(proxy, memory));
  } finally {
    await proxy.close();
    await provider.close();
  }
}

function http2ClassOf(outcome: Http2Outcome): string {
  return outcome.kind === 'refused' ? `refused ${outcome.code}` : outcome.kind;
}

/** Answers of a hostile provider, for clients of these protocols. */
export async function runResponses(protocols: readonly ClientProtocol[]): Promise<CorpusPart> {
  const provider = await startHostileProvider();
  const limits = { ...DEFAULT_LIMITS, headersTimeoutMs: 150, idleTimeoutMs: 150, sweepIntervalMs: 20 };
  const proxy = await startProxy(provider.origin, {}, {}, limits);
  const session = await openSession(proxy);
  try {
    const tally = new Tally();
    const replayed: { readonly name: string; readonly testCase: ResponseCase; readonly id: string | null }[] = [];
    await warmUp(proxy);
    const memory = readMemory();
    for (const testCase of RESPONSE_CASES) {
      const { outcome } = testCase;
      tally.count(outcome.kind === 'no answer' ? `no answer: ${outcome.code}` : outcome.kind);
      for (const protocol of protocols) {
        if (protocol === 'HTTP/2' && testCase.isHttp1Only) continue;
        const name = `${testCase.name} (${protocol})`;
        const { wrong, id } = await replayResponse(testCase, proxy, provider, session, protocol, tally.exchanges);
        tally.note(name, wrong);
        replayed.push({ name, testCase, id });
      }
    }
    tally.wrong.push(...(await callAsUsual(proxy)));
    session.destroy();
    const left = await findLeftovers(proxy, memory);
    const ends = new Map(
      (await proxy.entries()).flatMap((entry) => (entry.type === 'end' ? [[entry.begin.id, entry] as const] : [])),
    );
    for (const { name, testCase, id } of replayed) {
      // Without a head there is no id to look for; that every call has its ending is counted below.
      if (id !== null) for (const what of checkRecord(testCase, ends.get(id))) tally.wrong.push(`${name}: ${what}`);
    }
    return tally.part('answers of a hostile provider', RESPONSE_CASES.length, left);
  } finally {
    session.destroy();
    await proxy.close();
    await provider.close();
  }
}

async function openSession({ base }: InProcessProxy): Promise<ClientHttp2Session> {
  const session = connect(base, { maxHeaderListPairs: 1_000 });
  await once(session, 'remoteSettings');
  return session;
}

/** The requests of HTTP/1.1 against the admin port. */
export async function runAdminRequests(cuts: readonly Cut[]): Promise<CorpusPart> {
  const admin = await startAdminPort();
  try {
    const tally = new Tally();
    for (const testCase of REQUEST_CASES) {
      for (const [index, { name, cut, gapMs }] of cuts.entries()) {
        const { outcome, wrong } = await replayOnAdminPort(testCase, admin, cut, gapMs);
        if (index === 0) tally.count(outcome);
        tally.note(`${testCase.name} (${name})`, wrong);
      }
    }
    return tally.part('requests over HTTP/1.1, admin port', REQUEST_CASES.length, null);
  } finally {
    await admin.close();
  }
}

interface Memory {
  readonly heapBytes: number;
  readonly rssBytes: number;
}

function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  if (typeof collect === 'function') collect();
}

function readMemory(): Memory {
  collectGarbage();
  const { heapUsed, external, rss } = process.memoryUsage();
  return { heapBytes: heapUsed + external, rssBytes: rss };
}

/** What every process makes once. */
async function warmUp(proxy: InProcessProxy): Promise<void> {
  for (let round = 0; round < 50; round += 1) await callAsUsual(proxy);
}

async function callAsUsual({ port, key }: InProcessProxy): Promise<string[]> {
  const request = `GET /v1/models?usual HTTP/1.1\r\nHost: gateway.test\r\nX-Gateway-Key: ${key}\r\n\r\n`;
  const { status, end } = await readRawAnswer('127.0.0.1', port, request);
  return status === 200 && end === 'complete' ? [] : [`a call as usual got ${status} and ended as ${end}`];
}

const SETTLE_MS = 5_000;

async function findLeftovers(proxy: InProcessProxy, before: Memory): Promise<Leftovers> {
  const deadlineMs = performance.now() + SETTLE_MS;
  const count = (): Promise<number> =>
    new Promise((resolve) => proxy.server.getConnections((_, connections) => resolve(connections)));
  // Connections are counted when both sides know of their end.
  while (performance.now() < deadlineMs && (await count()) + proxy.sessions.size + proxy.gateway.openCalls.size > 0) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  const after = readMemory();
  const begun = new Set<string>();
  for (const entry of await proxy.entries()) {
    if (entry.type === 'begin') begun.add(entry.begin.id);
    if (entry.type === 'end') begun.delete(entry.begin.id);
  }
  return {
    heapGrowthBytes: after.heapBytes - before.heapBytes,
    rssGrowthBytes: after.rssBytes - before.rssBytes,
    openCalls: proxy.gateway.openCalls.size,
    clientConnections: await count(),
    http2Sessions: proxy.sessions.size,
    unfinishedRecords: begun.size,
  };
}
