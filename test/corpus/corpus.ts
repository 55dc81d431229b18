/**
 * The replayed way in: every case of the corpus of malformed and ambiguous input, against which port, what came of it, and
 * what it left behind. Shared by the test, which is quick, and by the program, which also cuts everything.
 */
import { once } from 'node:events';
import { type ClientHttp2Session, connect } from 'node:http2';
import { DEFAULT_LIMITS } from '../../src/proxy/upstream/upstream-limits.ts';
import { type InProcessProxy, startProxy } from '../proxy/start-proxy.ts';
import { collectGarbage } from '../support/collect-garbage.ts';
import { readRawAnswer } from '../support/read-raw-answer.ts';
import { type Cut, WHOLE } from './bytes.ts';
import { HTTP2_CASES } from './cases/http2-cases.ts';
import { classOf } from './cases/request-case.ts';
import { REQUEST_CASES } from './cases/requests.ts';
import { RESPONSE_CASES, type ResponseCase } from './cases/response-cases.ts';
import type { Check, CheckResult } from './check.ts';
import { replayOnAdminPort, startAdminPort } from './replay/admin-port.ts';
import { startHostileProvider } from './replay/hostile-provider.ts';
import { replayHttp2 } from './replay/replay-http2.ts';
import { replayRequest } from './replay/replay-requests.ts';
import { type ClientProtocol, checkRecord, replayResponse } from './replay/replay-responses.ts';
import { type StrictProvider, startStrictProvider } from './replay/strict-provider.ts';

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

export interface ReplayResult extends CheckResult {
  /** Null where no proxy was at work. */
  readonly leftovers: Leftovers | null;
}

export function corpusChecks(cuts: readonly Cut[], protocols: readonly ClientProtocol[]): readonly Check[] {
  return [
    { name: 'requests: HTTP/1.1, proxy port', run: () => runRequests(cuts) },
    { name: 'requests: HTTP/2, proxy port', run: () => runHttp2Requests(cuts) },
    { name: 'requests: HTTP/1.1, admin port', run: () => runAdminRequests(cuts) },
    { name: 'answers of a hostile provider', run: () => runResponses(protocols) },
  ];
}

class Tally {
  readonly outcomes = new Map<string, number>();
  readonly findings: string[] = [];
  exchanges = 0;
  worstMs = 0;
  #begunMs = 0;

  count(outcome: string): void {
    this.outcomes.set(outcome, (this.outcomes.get(outcome) ?? 0) + 1);
  }

  /** Before each exchange. */
  begin(): void {
    this.#begunMs = performance.now();
  }

  note(where: string, wrong: readonly string[]): void {
    this.worstMs = Math.max(this.worstMs, performance.now() - this.#begunMs);
    this.exchanges += 1;
    this.add(where, wrong);
  }

  add(where: string, wrong: readonly string[]): void {
    for (const what of wrong) this.findings.push(`${where}: ${what}`);
  }

  result(cases: number, leftovers: Leftovers | null): ReplayResult {
    const { exchanges, worstMs, findings } = this;
    const outcomes = [...this.outcomes].sort(([, a], [, b]) => b - a);
    const notes = outcomes.map(([outcome, count]) => `${String(count).padStart(5)}  ${outcome}`);
    if (leftovers !== null) notes.push(...describeLeftovers(leftovers));
    return { cases, exchanges, worstMs, findings, notes, leftovers };
  }
}

function describeLeftovers(left: Leftovers): readonly string[] {
  const mebibytes = (bytes: number) => `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
  return [
    `afterwards: heap ${mebibytes(left.heapGrowthBytes)} more, process ${mebibytes(left.rssGrowthBytes)} more,`,
    `${left.openCalls} open calls, ${left.clientConnections} connections, ${left.http2Sessions} sessions, ${left.unfinishedRecords} records without an ending`,
  ];
}

interface Replay<Case> {
  readonly cases: readonly Case[];
  readonly cuts: readonly Cut[];
  readonly outcomeOf: (testCase: Case) => string;
  readonly isCut: (testCase: Case) => boolean;
  /** What is wrong; empty when all is as it has to be. */
  readonly send: (testCase: Case, proxy: InProcessProxy, provider: StrictProvider, cut: Cut) => Promise<string[]>;
}

/** Requests of HTTP/1.1, each with a second one behind it, against the proxy port. */
export function runRequests(cuts: readonly Cut[]): Promise<ReplayResult> {
  return runReplay({
    cases: REQUEST_CASES,
    cuts,
    outcomeOf: ({ outcome }) => classOf(outcome),
    isCut: () => true,
    send: replayRequest,
  });
}

/** Frames of HTTP/2 against the proxy port. */
export function runHttp2Requests(cuts: readonly Cut[]): Promise<ReplayResult> {
  return runReplay({
    cases: HTTP2_CASES,
    cuts,
    outcomeOf: ({ outcome }) => (outcome.kind === 'refused' ? `refused ${outcome.code}` : outcome.kind),
    isCut: ({ isOnePacket }) => !isOnePacket,
    send: replayHttp2,
  });
}

async function runReplay<Case extends { readonly name: string }>(replay: Replay<Case>): Promise<ReplayResult> {
  const provider = await startStrictProvider();
  const proxy = await startProxy(provider.origin);
  try {
    const tally = new Tally();
    await warmUp(proxy);
    const memory = readMemory();
    for (const testCase of replay.cases) {
      tally.count(replay.outcomeOf(testCase));
      for (const cut of replay.cuts) {
        if (cut.name !== WHOLE.name && !replay.isCut(testCase)) continue;
        tally.begin();
        tally.note(`${testCase.name} (${cut.name})`, await replay.send(testCase, proxy, provider, cut));
      }
    }
    tally.add('afterwards', await callAsUsual(proxy));
    return tally.result(replay.cases.length, await findLeftovers(proxy, memory));
  } finally {
    await proxy.close();
    await provider.close();
  }
}

/** Answers of a hostile provider, for clients of these protocols. */
export async function runResponses(protocols: readonly ClientProtocol[]): Promise<ReplayResult> {
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
        tally.begin();
        const { wrong, id } = await replayResponse(testCase, proxy, provider, session, protocol, tally.exchanges);
        tally.note(name, wrong);
        replayed.push({ name, testCase, id });
      }
    }
    tally.add('afterwards', await callAsUsual(proxy));
    session.destroy();
    const left = await findLeftovers(proxy, memory);
    const ends = new Map(
      (await proxy.entries()).flatMap((entry) => (entry.type === 'end' ? [[entry.begin.id, entry] as const] : [])),
    );
    // Without a head there is no id to look for; that every call has its ending is counted below.
    for (const { name, testCase, id } of replayed)
      if (id !== null) tally.add(name, checkRecord(testCase, ends.get(id)));
    return tally.result(RESPONSE_CASES.length, left);
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
export async function runAdminRequests(cuts: readonly Cut[]): Promise<ReplayResult> {
  const admin = await startAdminPort();
  try {
    const tally = new Tally();
    for (const testCase of REQUEST_CASES) {
      for (const [index, cut] of cuts.entries()) {
        tally.begin();
        const { outcome, wrong } = await replayOnAdminPort(testCase, admin, cut);
        if (index === 0) tally.count(outcome);
        tally.note(`${testCase.name} (${cut.name})`, wrong);
      }
    }
    return tally.result(REQUEST_CASES.length, null);
  } finally {
    await admin.close();
  }
}

interface Memory {
  readonly heapBytes: number;
  readonly rssBytes: number;
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
