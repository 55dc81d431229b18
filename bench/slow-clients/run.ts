/**
 * `npm run bench:slow-clients`: what ordinary calls take while hundreds of clients send or read one byte a second, or
 * never read; and what the proxy process holds for them. What is measured, how, and what to distrust: ../README.md.
 */
import { chmodSync, mkdtempSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startGateway } from '../proxy/gateway.ts';
import { readPeakRssKb, readRssKb, resetPeakRss } from '../proxy/process-figures.ts';
import { median } from '../proxy/statistics.ts';
import { startSlowProvider } from './provider.ts';
import { openSlowClients, SLOW_KINDS, type SlowKind } from './slow-clients.ts';

const USAGE = `npm run bench:slow-clients -- [options]
  --clients N    slow clients of each kind (default 500)
  --rounds N     of each kind, undisturbed and disturbed (default 5)
  --seconds N    of ordinary calls in each (default 8)
  --only KIND    one of: ${SLOW_KINDS.join(', ')}`;

const CALLS_A_SECOND = 50;
/** The endless answers first fill what the system buffers of each: megabytes, which is work of its own. */
const FILL_MS = 10_000;
const SETTLE_MS = 1_500;
/** The gateway's limit for a head, how often it looks, and some room. */
const HEAD_LIMIT_MS = 45_000;
const BODY = '{"model":"gpt-x","stream":false}';
const MOST_RATIO = 1.2;

const { values: options } = parseArgs({
  options: {
    clients: { type: 'string', default: '500' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '8' },
    only: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

interface Gateway {
  readonly port: number;
  readonly key: string;
  readonly pid: number;
}

function callOnce({ port, key }: Gateway, agent: Agent): Promise<number> {
  const startedMs = performance.now();
  return new Promise((resolve, reject) => {
    const headers = { 'x-gateway-key': key, 'content-type': 'application/json', 'content-length': BODY.length };
    const path = '/v1/chat/completions';
    const outgoing = request({ port, host: '127.0.0.1', method: 'POST', path, headers, agent }, (incoming) => {
      incoming.resume();
      incoming.once('end', () => {
        if (incoming.statusCode === 200) resolve(performance.now() - startedMs);
        else reject(new Error(`an ordinary call was answered ${incoming.statusCode}`));
      });
    });
    outgoing.once('error', reject);
    outgoing.end(BODY);
  });
}

/** At a steady rate, whatever the answers do. Sorted milliseconds. */
async function measure(gateway: Gateway, agent: Agent): Promise<number[]> {
  const calls: Promise<number>[] = [];
  const startedMs = performance.now();
  const count = Number(options.seconds) * CALLS_A_SECOND;
  for (let index = 0; index < count; index += 1) {
    const dueMs = startedMs + (index * 1_000) / CALLS_A_SECOND - performance.now();
    if (dueMs > 0) await sleep(dueMs);
    calls.push(callOnce(gateway, agent));
  }
  return (await Promise.all(calls)).sort((a, b) => a - b);
}

function countSockets(pid: number): number {
  const links = readdirSync(`/proc/${pid}/fd`).map((fd) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`);
    } catch {
      return '';
    }
  });
  return links.filter((link) => link.startsWith('socket:')).length;
}

interface Round {
  readonly ratio: number;
  readonly quiet: number;
  readonly disturbed: number;
  readonly disturbed99: number;
  readonly kbEach: number;
  readonly peakMib: number;
  readonly leftSockets: number;
}

async function runRound(kind: SlowKind, gateway: Gateway, agent: Agent): Promise<Round> {
  const clients = Number(options.clients);
  const socketsBefore = countSockets(gateway.pid);
  const rssBefore = readRssKb([gateway.pid]);
  const quiet = await measure(gateway, agent);
  resetPeakRss(gateway.pid);
  const slow = await openSlowClients(kind, clients, gateway);
  await sleep(FILL_MS);
  const disturbed = await measure(gateway, agent);
  const kbEach = (readRssKb([gateway.pid]) - rssBefore) / clients;
  const peakMib = readPeakRssKb(gateway.pid) / 1_024;
  await slow.close();
  await sleep(SETTLE_MS);
  const [before, after] = [median(quiet), median(disturbed)];
  return {
    ratio: after / before,
    quiet: before,
    disturbed: after,
    disturbed99: disturbed[Math.floor(disturbed.length * 0.99)] ?? Number.NaN,
    kbEach,
    peakMib,
    leftSockets: countSockets(gateway.pid) - socketsBefore,
  };
}

function printKind(kind: SlowKind, rounds: readonly Round[]): void {
  const of = (read: (round: Round) => number): number => median(rounds.map(read));
  const ratio = of((round) => round.ratio);
  const figures = [
    of((round) => round.quiet).toFixed(2),
    of((round) => round.disturbed).toFixed(2),
    ratio.toFixed(2),
    of((round) => round.disturbed99).toFixed(1),
    of((round) => round.kbEach).toFixed(0),
    Math.max(...rounds.map(({ peakMib }) => peakMib)).toFixed(0),
    String(rounds.at(-1)?.leftSockets ?? 0),
  ];
  console.log(`${kind.padEnd(8)}${figures.map((figure) => figure.padStart(10)).join('')}`);
  if (ratio > MOST_RATIO) process.exitCode = 1;
}

/** Who never finishes its head is ended by the gateway: all of them, and with what. */
async function printHeadEndings(gateway: Gateway): Promise<void> {
  const clients = Number(options.clients);
  const startedMs = performance.now();
  const slow = await openSlowClients('head', clients, gateway);
  const isOver = (): boolean => slow.sockets.every((socket) => socket.closed);
  while (!isOver() && performance.now() - startedMs < HEAD_LIMIT_MS) await sleep(200);
  const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1);
  const told = [...slow.endings].map(([what, count]) => `${count} × ${what}`).join(', ');
  console.log(`\nheads at 1 B/s: ${isOver() ? 'all' : 'NOT all'} ended by the gateway within ${seconds} s: ${told}`);
  if (!isOver()) process.exitCode = 1;
  await slow.close();
}

async function main(): Promise<void> {
  if (options.help) {
    console.log(USAGE);
    return;
  }
  const directory = mkdtempSync(join(tmpdir(), 'tollgate-slow-'));
  chmodSync(directory, 0o755);
  const provider = await startSlowProvider();
  const agent = new Agent({ keepAlive: true, maxSockets: 256 });
  try {
    const peer = await startGateway(join(directory, 'gateway'), provider.port, ['OPENAI']);
    try {
      const gateway = { port: peer.jsonPort, key: peer.gatewayKey, pid: peer.proxyPids[0] ?? 0 };
      await measure(gateway, agent);
      console.log(`${options.clients} slow clients; ${CALLS_A_SECOND} ordinary calls/s\n`);
      console.log('          quiet p50 slow p50     ratio  slow p99   KB each  peak MiB sockets left');
      for (const kind of SLOW_KINDS.filter((one) => options.only === undefined || options.only === one)) {
        const rounds: Round[] = [];
        for (let round = 0; round < Number(options.rounds); round += 1)
          rounds.push(await runRound(kind, gateway, agent));
        printKind(kind, rounds);
      }
      if (options.only === undefined || options.only === 'head') await printHeadEndings(gateway);
    } finally {
      await peer.stop();
    }
  } finally {
    agent.destroy();
    await provider.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

await main();
