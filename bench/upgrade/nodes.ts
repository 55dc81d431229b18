/** The nodes of an upgrade: each keeps its data and its ports while releases change; and how long each was away. */
import { setTimeout as sleep } from 'node:timers/promises';
import { asRecord, startGateway, type TestGateway, waitUntil } from '../../test/gateway/start-gateway.ts';
import { type WatchedNode, watchNode } from './watch-node.ts';

/** Recovery after a kill included. */
const START_LIMIT_MS = 150_000;
const LISTED_LIMIT_MS = 60_000;
/** More than the second within which a node knows the keys that others have made. */
export const KEYS_KNOWN_MS = 3_000;
/** More than the balancer needs to act. */
const LOOKS = 3;

export interface NodeOptions {
  readonly env: Readonly<Record<string, string>>;
  /** Between two questions of the balancer. */
  readonly everyMs: number;
}

export interface Node {
  readonly name: string;
  readonly watched: WatchedNode;
  readonly gateway: () => TestGateway;
  /** Undefined is the release that is here. */
  readonly release: () => string | undefined;
  readonly replaceGateway: (gateway: TestGateway, release: string | undefined) => void;
}

/** One change of a node's release. */
export interface Move {
  readonly node: string;
  readonly how: 'SIGTERM' | 'kill -9';
  readonly from: string;
  readonly to: string;
  /** The balancer gave it no calls. */
  readonly awayMs: number;
  /** From the signal to the end of the process. */
  readonly stopMs: number;
  /** From its start to the first 200 of `readyz`, dashboard and database included. */
  readonly startMs: number;
  /** Monotonic: from the signal until it is listed again. */
  readonly fromMs: number;
  readonly goneMs: number;
  readonly toMs: number;
  /** Else the operator had taken it out of the balancer first. */
  readonly wasAnnounced: boolean;
}

export async function startNode(
  name: string,
  release: string | undefined,
  { env, everyMs }: NodeOptions,
): Promise<Node> {
  let gateway = await startGateway({ ...runOf(release), env: { ...env, TOLLGATE_NODE: name } });
  let current = release;
  const watched = watchNode(name, gateway.port, everyMs);
  await waitUntilListed(watched);
  return {
    name,
    watched,
    gateway: () => gateway,
    release: () => current,
    replaceGateway(next, nextRelease) {
      gateway = next;
      current = nextRelease;
    },
  };
}

export async function moveNode(
  node: Node,
  release: string | undefined,
  how: Move['how'],
  options: NodeOptions,
  whileAway: () => Promise<void>,
): Promise<Move> {
  const { watched, name } = node;
  const before = node.gateway();
  // By 503 on `readyz`: the one before does not.
  const wasAnnounced = node.release() === undefined;
  const from = await readVersion(before);
  const changesBefore = watched.changes.length;
  if (how === 'SIGTERM' && !wasAnnounced) {
    watched.takeOut();
    await sleep(options.everyMs * LOOKS);
  }
  const fromMs = performance.now();
  await (how === 'SIGTERM' ? stopInOrder(before) : killAll(before));
  const goneMs = performance.now();
  await whileAway();
  if (how === 'kill -9') await sleep(options.everyMs * LOOKS);
  // Its `readyz` does not wait for the keys that were made meanwhile: the operator does.
  if (release !== undefined) watched.takeOut();
  const startedMs = performance.now();
  const { dataDir, port, adminPort } = before;
  const gateway = await startGateway({
    dataDir,
    ports: { port, adminPort },
    timeoutMs: START_LIMIT_MS,
    env: { ...options.env, TOLLGATE_NODE: name },
    ...runOf(release),
  });
  const startMs = performance.now() - startedMs;
  node.replaceGateway(gateway, release);
  if (release !== undefined) await sleep(KEYS_KNOWN_MS);
  watched.putIn();
  await waitUntilListed(watched);
  const changes = watched.changes.slice(changesBefore);
  const out = changes.find(({ isListed }) => !isListed)?.atMs ?? fromMs;
  const toMs = changes.findLast(({ isListed }) => isListed)?.atMs ?? performance.now();
  return {
    node: name,
    how,
    from,
    to: await readVersion(gateway),
    wasAnnounced,
    awayMs: toMs - out,
    stopMs: goneMs - fromMs,
    startMs,
    fromMs,
    goneMs,
    toMs,
  };
}

export async function readVersion(gateway: TestGateway): Promise<string> {
  return String(asRecord(await gateway.api('/api/v1/status'))['version']);
}

function waitUntilListed(watched: WatchedNode): Promise<true> {
  return waitUntil('the balancer lists it', () => (watched.isListed() ? true : undefined), LISTED_LIMIT_MS);
}

async function stopInOrder({ process: supervisor }: TestGateway): Promise<void> {
  const gone = new Promise((resolve) => supervisor.once('exit', resolve));
  supervisor.kill('SIGTERM');
  await gone;
}

/** As when the machine loses its power: every process at once. */
async function killAll(gateway: TestGateway): Promise<void> {
  const children = await gateway.processes();
  const gone = new Promise((resolve) => gateway.process.once('exit', resolve));
  for (const { pid } of [gateway.process, ...children]) if (typeof pid === 'number') process.kill(pid, 'SIGKILL');
  await gone;
}

function runOf(release: string | undefined): { release?: string } {
  return release === undefined ? {} : { release };
}
