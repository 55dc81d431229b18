/** Kills one kind of process again and again under load, with SIGKILL and by its pid, and counts afterwards. */
import { setTimeout as sleep } from 'node:timers/promises';
import { isAlive, type ProcessIdentity, readStartTime } from '../../src/supervisor/process-identity.ts';
import { type TestGateway, waitUntil } from '../../test/gateway/start-gateway.ts';
import type { Settled, Stage } from './stage.ts';

export const VICTIMS = ['proxy', 'control', 'postgres', 'supervisor'] as const;
export type Victim = (typeof VICTIMS)[number];

/** A child that dies often is started again with a growing wait, up to 10 s; and what is measured is losses, on machines that are busy. */
const READY_LIMIT_MS = 240_000;
const MIN_LIFE_MS = 200;
const LIFE_SPREAD_MS = 1_000;
/** Load goes on for this long after the last restart. */
const AFTERWARDS_MS = 1_000;

/** Taken away before the first kill and given back after the last one. */
export interface AwayDatabase {
  readonly down: () => Promise<void>;
  readonly up: () => Promise<void>;
}

export interface KillResult extends Settled {
  readonly victim: Victim;
  readonly isDatabaseDown: boolean;
  readonly kills: number;
  readonly durationMs: number;
  /** The longest time from a kill until the process was there again. */
  readonly slowestReturnMs: number;
}

export async function runKillPhase(
  stage: Stage,
  victim: Victim,
  kills: number,
  random: () => number,
  database: AwayDatabase | null = null,
): Promise<KillResult> {
  const sinceMs = Date.now();
  const startedMs = performance.now();
  const load = stage.startLoad();
  const leftOver: string[] = [];
  let slowestReturnMs = 0;
  if (database !== null) {
    await sleep(AFTERWARDS_MS);
    await database.down();
  }
  for (let count = 0; count < kills; count += 1) {
    await sleep(MIN_LIFE_MS + random() * LIFE_SPREAD_MS);
    const killedMs = performance.now();
    if (victim === 'supervisor') leftOver.push(...(await killSupervisor(stage, random)));
    else await killChild(stage.gateway(), victim);
    slowestReturnMs = Math.max(slowestReturnMs, performance.now() - killedMs);
  }
  await sleep(AFTERWARDS_MS);
  await database?.up();
  const settled = await stage.settle(load, sinceMs);
  return {
    ...settled,
    victim,
    kills,
    isDatabaseDown: database !== null,
    slowestReturnMs: Math.round(slowestReturnMs),
    durationMs: Math.round(performance.now() - startedMs),
    faults: [...settled.faults, ...leftOver, ...(mayCutCalls(victim) ? [] : clientFaults(settled))],
  };
}

/** Calls go through the proxy, and it ends with its supervisor. Nothing else may be noticed by a client. */
function mayCutCalls(victim: Victim): boolean {
  return victim === 'proxy' || victim === 'supervisor';
}

export function clientFaults({ tally, refusedConnections }: Settled): string[] {
  const faults: string[] = [];
  if (tally.clientErrors > 0) faults.push(`${tally.clientErrors} calls failed at the client`);
  if (refusedConnections > 0) faults.push(`${refusedConnections} connections were refused`);
  return faults;
}

/** Its pid once it works, and what else the gateway must be able to do then: with the database down that is said by its state. */
async function waitForProcess(gateway: TestGateway, role: string, formerPid: number | null): Promise<number> {
  return waitUntil(
    `the process ${role} is ready`,
    async () => {
      const processes = await gateway.processes().catch(() => []);
      const found = processes.find((one) => one.role === role);
      const isReady = found?.state === 'ready' && found.pid !== null && found.pid !== formerPid;
      return isReady ? (found.pid ?? undefined) : undefined;
    },
    READY_LIMIT_MS,
  );
}

async function killChild(gateway: TestGateway, role: Exclude<Victim, 'supervisor'>): Promise<void> {
  const pid = await waitForProcess(gateway, role, null);
  process.kill(pid, 'SIGKILL');
  await waitForProcess(gateway, role, pid);
}

/** Kills it, starts the gateway again on the same data, and tells which processes of the former one are left. */
async function killSupervisor(stage: Stage, random: () => number): Promise<string[]> {
  const former = await listIdentities(stage.gateway());
  const supervisor = stage.gateway().process;
  const gone = new Promise((resolve) => supervisor.once('exit', resolve));
  supervisor.kill('SIGKILL');
  await gone;
  await sleep(random() * LIFE_SPREAD_MS);
  await stage.restart();
  const current = await listIdentities(stage.gateway());
  // A database that was left alive is taken over by the new gateway: then it is one of its own.
  const adopted = current.filter(({ role }) => role === 'postgres').map(({ identity }) => identity.pid);
  return former
    .filter(({ identity }) => isAlive(identity) && !adopted.includes(identity.pid))
    .map(({ role, identity }) => `the process ${role} (pid ${identity.pid}) of the killed gateway is still there`);
}

async function listIdentities(gateway: TestGateway): Promise<{ role: string; identity: ProcessIdentity }[]> {
  const processes = await gateway.processes();
  return processes.flatMap(({ role, pid }) =>
    pid === null ? [] : [{ role, identity: { pid, startTime: readStartTime(pid) ?? 'gone' } }],
  );
}
