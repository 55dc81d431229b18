/**
 * Two nodes on one PostgreSQL, upgraded one after the other under load, taken back the same way and upgraded again; then
 * silence, and the count. Everything it starts is gone afterwards.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { runTollgate } from '../../test/gateway/run-tollgate.ts';
import { asRecord, type TestGateway } from '../../test/gateway/start-gateway.ts';
import { POSTGRES_KINDS, startPostgres } from '../../test/support/postgres.ts';
import { countDatabase } from '../kill/gateway-database.ts';
import { startLedgerProvider } from '../kill/ledger-provider.ts';
import { waitUntilDrained } from '../kill/stage.ts';
import { countSoak, type SoakCount } from '../soak/count-soak.ts';
import type { Disturbance } from '../soak/judge-call.ts';
import { createSessionServer } from '../soak/serve-session.ts';
import { balanceConnections, balanceRequests, takeTurns } from './balance.ts';
import { joinLeftTurns } from './join-left-turns.ts';
import { KEYS_KNOWN_MS, type Move, moveNode, type Node, type NodeOptions, startNode } from './nodes.ts';
import { planUpgradeCall } from './plan-upgrade-call.ts';
import { type MadeCall, startSteadyLoad } from './steady-load.ts';

export interface UpgradeOptions {
  /** The folder of the release before. */
  readonly before: string;
  readonly seed: number;
  readonly callsPerSecond: number;
  /** How often the balancer asks; what it is told twice, it believes. */
  readonly everyMs: number;
  readonly stopDelaySeconds: number;
  /** Undisturbed, between two moves. */
  readonly restMs: number;
  /** `one by one`: each in its place. `beside`: two new ones join at once, then the old ones go. */
  readonly up: 'one by one' | 'beside';
  readonly say: (text: string) => void;
}

export interface Verified {
  readonly node: string;
  readonly code: number | null;
  readonly text: string;
}

export interface UpgradeResult {
  readonly count: SoakCount;
  readonly calls: readonly MadeCall[];
  readonly refusedConnections: number;
  readonly moves: readonly Move[];
  readonly rollupDifferences: number;
  readonly openCalls: number;
  readonly verified: readonly Verified[];
  readonly logs: ReadonlyMap<string, string>;
}

export async function runUpgrade(options: UpgradeOptions): Promise<UpgradeResult> {
  const { before, seed, callsPerSecond, everyMs, restMs, up } = options;
  const startedMs = performance.now();
  const say = (text: string) =>
    options.say(`${((performance.now() - startedMs) / 1_000).toFixed(1).padStart(7)} s  ${text}`);
  const [kind] = POSTGRES_KINDS;
  if (kind === undefined) throw new Error('no PostgreSQL');
  const planOf = (n: number) => planUpgradeCall(n, seed);
  const { serve, misread } = createSessionServer();
  const postgres = await startPostgres(kind);
  const databaseUrl = await postgres.createEmptyDatabase('upgrade');
  const provider = await startLedgerProvider({ planOf, serveSession: serve });
  const nodeOptions: NodeOptions = {
    everyMs,
    env: {
      DATABASE_URL: databaseUrl,
      TOLLGATE_STOP_DELAY_SECONDS: String(options.stopDelaySeconds),
      TOLLGATE_UPSTREAM_OPENAI: provider.origin,
      TOLLGATE_UPSTREAM_ANTHROPIC: provider.origin,
    },
  };
  // Mutable because nodes come and go.
  let nodes: readonly Node[] = [];
  const gateways = new Set<TestGateway>();
  const choose = takeTurns(() => nodes.map(({ watched }) => watched));
  const requests = await balanceRequests(choose);
  const handedOver: HandedOver[] = [];
  const connections = await balanceConnections(choose, (callId, { name }) => {
    handedOver.push({ callId, node: name, atMs: performance.now() });
  });
  const moves: Move[] = [];
  const logs = new Map<string, string>();

  async function join(...names: readonly [string, string | undefined][]): Promise<void> {
    const started = await Promise.all(names.map(([name, release]) => startNode(name, release, nodeOptions)));
    nodes = [...nodes, ...started];
    for (const node of started) gateways.add(node.gateway());
  }

  async function makeKey(node: Node | undefined, name: string): Promise<string> {
    const made = await node?.gateway().api('/api/v1/keys', { method: 'POST', body: JSON.stringify({ name }) });
    return String(asRecord(made)['key']);
  }

  /** While it is away, a key is made at the other one, which it must know when it is back. */
  async function move(node: Node | undefined, release: string | undefined, how: Move['how']): Promise<void> {
    if (node === undefined) throw new Error('no such node');
    const former = node.gateway();
    const whileAway = async () => {
      latestKey = await makeKey(
        nodes.find((other) => other !== node),
        `made while ${node.name} is away`,
      );
    };
    const moved = await moveNode(node, release, how, nodeOptions, whileAway);
    note(node, former);
    gateways.delete(former);
    gateways.add(node.gateway());
    moves.push(moved);
    say(
      `${moved.node}: ${how}, ${moved.from} → ${moved.to}, away for ${(moved.awayMs / 1_000).toFixed(1)} s (stop ${(moved.stopMs / 1_000).toFixed(1)} s, start ${(moved.startMs / 1_000).toFixed(1)} s)`,
    );
    await sleep(restMs);
  }

  function note(node: Node, gateway: TestGateway): void {
    logs.set(node.name, (logs.get(node.name) ?? '') + gateway.output());
  }

  async function leave(node: Node): Promise<void> {
    node.watched.takeOut();
    await sleep(everyMs * 2);
    nodes = nodes.filter((other) => other !== node);
    node.watched.stop();
    await node.gateway().stop();
    gateways.delete(node.gateway());
    note(node, node.gateway());
    say(`${node.name} has gone`);
  }

  let latestKey = '';
  try {
    await join(['one', before]);
    await join(['two', before]);
    latestKey = await makeKey(nodes[0], 'first');
    await sleep(KEYS_KNOWN_MS);
    say(`two nodes of the release before; ${callsPerSecond} calls a second, seed ${seed}`);
    const load = startSteadyLoad({
      requestsPort: requests.port,
      connectionsPort: connections.port,
      callsPerSecond,
      planOf,
      gatewayKey: latestKey,
      latestKey: () => latestKey,
    });
    await sleep(restMs);
    if (up === 'one by one') {
      await move(nodes[0], undefined, 'SIGTERM');
      await move(nodes[1], undefined, 'SIGTERM');
    } else {
      const [one, two] = nodes;
      await join(['three', undefined], ['four', undefined]);
      say('two nodes of this release have joined at once');
      await sleep(restMs);
      for (const old of [one, two]) if (old !== undefined) await leave(old);
      await sleep(restMs);
    }
    await move(nodes[0], before, 'SIGTERM');
    await move(nodes[1], before, 'kill -9');
    await move(nodes[0], undefined, 'SIGTERM');
    await move(nodes[1], undefined, 'SIGTERM');
    const { calls, refusedConnections } = await load.stop();
    say(`${calls.length} calls; waiting for everything to be stored`);
    for (const { gateway } of nodes) await waitUntilDrained(gateway(), 1);
    const database = await countDatabase(databaseUrl, 0);
    const kills = moves.filter(({ how, to }) => how === 'kill -9' && to === FIRST_RELEASE);
    const rows = joinLeftTurns({
      rows: database.rows,
      calls,
      planOf,
      kills: kills.map(({ fromMs, toMs }) => ({ kind: 'kill', fromMs, toMs })),
    });
    const count = countSoak({
      calls,
      database: { ...database, rows },
      planOf,
      misread,
      provider,
      disturbances: moves.flatMap((one) => disturbancesOf(one, handedOver)),
    });
    const verified: Verified[] = [];
    for (const { name, gateway } of nodes) {
      const { code, stdout, stderr } = await runTollgate(gateway().dataDir, ['verify']);
      verified.push({ node: name, code, text: (code === 0 ? stdout : `${stdout}${stderr}`).trim() });
    }
    for (const node of nodes) note(node, node.gateway());
    return {
      count,
      calls,
      refusedConnections,
      moves,
      verified,
      logs,
      rollupDifferences: database.differences.length,
      openCalls: database.openCalls,
    };
  } finally {
    for (const { watched } of nodes) watched.stop();
    await Promise.all([...gateways].map((gateway) => gateway.stop()));
    await Promise.all([requests.close(), connections.close(), provider.close()]);
    await postgres.remove();
  }
}

/** It may lose what comes while it ends (see `Disturbance`), and stores turns as calls of their own (see `joinLeftTurns`). */
const FIRST_RELEASE = '0.1.0';

/** A call that was passed on to a node; the time is monotonic. */
interface HandedOver {
  readonly callId: string;
  readonly node: string;
  readonly atMs: number;
}

/**
 * Nothing may be seen of a stop that is announced. One that is not, closes kept connections: those that a balancer of
 * connections has still open break in the instant in which they are used, if at all. What comes on them to that node, and
 * to no other, while it ends, 0.1.0 may lose.
 */
function disturbancesOf(
  { node, how, from, wasAnnounced, fromMs, goneMs, toMs }: Move,
  handedOver: readonly HandedOver[],
): Disturbance[] {
  if (how === 'kill -9') return [{ kind: 'kill', fromMs, toMs }];
  if (wasAnnounced) return [];
  const rolling = { kind: 'rolling', fromMs, toMs: goneMs } as const;
  if (from !== FIRST_RELEASE) return [rolling];
  const taken = handedOver.filter((one) => one.node === node && one.atMs >= fromMs && one.atMs <= goneMs);
  const callIds = new Set(taken.map(({ callId }) => callId));
  return [rolling, { kind: 'forgetful exit', fromMs, toMs: goneMs, callIds }];
}
