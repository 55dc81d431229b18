/**
 * What every measurement stands on: a provider with a ledger, a whole gateway in front of it, and a load; and the
 * count after the load has ended and the spool is empty. It kills nothing.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { asRecord, startGateway, type TestGateway, waitUntil } from '../../test/gateway/start-gateway.ts';
import { type CallPlan, chooseShape, planCall } from './call-plan.ts';
import { countDatabase, embeddedUrl } from './gateway-database.ts';
import { type LedgerProvider, type ServeSession, startLedgerProvider } from './ledger-provider.ts';
import { type CallNumbers, type Load, startCallsAtOnce, startLoad } from './load.ts';
import type { RawClient } from './raw-client.ts';
import { faultsOf, type Tally, tally } from './tally.ts';

const DRAIN_LIMIT_MS = 120_000;
/** What the former gateway left ends first, and its database recovers. */
const RESTART_LIMIT_MS = 150_000;

export interface StageOptions {
  readonly seed: number;
  readonly clients: number;
  /** By default of all kinds, as the seed says. */
  readonly planOf?: (n: number) => CallPlan;
  /** See `LedgerProviderOptions`. */
  readonly afterFirstPiece?: (callId: string) => Promise<void>;
  /** See `LedgerProviderOptions`. */
  readonly serveSession?: ServeSession;
  readonly env?: Readonly<Record<string, string>>;
  /** The gateway's data directory; a temporary one by default. */
  readonly dataDir?: string;
  readonly createClient?: (index: number, port: number, gatewayKey: string) => RawClient;
  readonly thinkMs?: () => number;
  /** See `StartOptions`; for the first start. */
  readonly release?: string;
  /** Where to count; the embedded database by default. */
  readonly databaseUrl?: () => string;
}

export interface Stage {
  /** What its gateways are told beyond their data and ports: where the provider is. */
  readonly env: Readonly<Record<string, string>>;
  readonly gateway: () => TestGateway;
  /** What it has printed, before its restarts too. */
  readonly output: () => string;
  /** Starts it anew on the same data and the same ports, after it was killed; `release` as in `StartOptions`. */
  readonly restart: (release?: string) => Promise<void>;
  readonly startLoad: () => Load;
  /** One call of each client, all at the same time. */
  readonly startCallsAtOnce: () => Load;
  readonly provider: LedgerProvider;
  /** Everything that was written until now is stored. */
  readonly drain: () => Promise<void>;
  /** Ends the load, waits for the spool and counts everything since `sinceMs`. */
  readonly settle: (load: Load, sinceMs: number) => Promise<Settled>;
  readonly close: () => Promise<void>;
}

export interface Settled {
  readonly tally: Tally;
  readonly drainMs: number;
  readonly differences: number;
  readonly refusedConnections: number;
  /** What must not be; empty when all is well. */
  readonly faults: readonly string[];
}

export async function openStage(options: StageOptions): Promise<Stage> {
  const planOf = options.planOf ?? ((n: number) => planCall(n, chooseShape(n, options.seed)));
  const numbers: CallNumbers = { next: 1 };
  const { afterFirstPiece = () => Promise.resolve(), serveSession } = options;
  const provider = await startLedgerProvider({
    planOf,
    afterFirstPiece,
    ...(serveSession === undefined ? {} : { serveSession }),
  });
  const env = {
    ...options.env,
    TOLLGATE_UPSTREAM_OPENAI: provider.origin,
    TOLLGATE_UPSTREAM_ANTHROPIC: provider.origin,
  };
  let gateway: TestGateway;
  let formerOutput = '';
  try {
    gateway = await startGateway({
      env,
      ...runOf(options.release),
      ...(options.dataDir === undefined ? {} : { dataDir: options.dataDir }),
    });
  } catch (error) {
    await provider.close();
    throw error;
  }
  const { port, adminPort, dataDir, key } = gateway;
  const workers = Number(options.env?.['TOLLGATE_WORKERS'] ?? 1);
  const { createClient, thinkMs } = options;
  const load = {
    port,
    gatewayKey: key,
    clients: options.clients,
    planOf,
    ...(createClient === undefined ? {} : { createClient: (index: number) => createClient(index, port, key) }),
    ...(thinkMs === undefined ? {} : { thinkMs }),
  };

  async function settle(running: Load, sinceMs: number): Promise<Settled> {
    const { calls, refusedConnections } = await running.stop();
    const startedMs = performance.now();
    await waitUntilDrained(gateway, workers);
    const drainMs = Math.round(performance.now() - startedMs);
    const url = options.databaseUrl?.() ?? embeddedUrl(dataDir);
    const counted = await countDatabase(url, sinceMs);
    const result = tally(calls, provider.ledger, counted.rows, planOf);
    const faults = faultsOf(result);
    if (counted.openCalls > 0) faults.push(`${counted.openCalls} calls are still open in the database`);
    if (counted.differences.length > 0) {
      faults.push(
        `${counted.differences.length} differences between roll-ups and records: ${counted.differences[0]?.row}`,
      );
    }
    return { tally: result, drainMs, differences: counted.differences.length, refusedConnections, faults };
  }

  return {
    env,
    gateway: () => gateway,
    output: () => formerOutput + gateway.output(),
    async restart(release) {
      const former = gateway;
      gateway = await startGateway({
        env,
        dataDir,
        ports: { port, adminPort },
        timeoutMs: RESTART_LIMIT_MS,
        ...runOf(release),
      });
      formerOutput += former.output();
    },
    startLoad: () => startLoad(load, numbers),
    startCallsAtOnce: () => startCallsAtOnce(load, numbers),
    provider,
    drain: () => waitUntilDrained(gateway, workers),
    settle,
    async close() {
      await gateway.stop();
      await provider.close();
    },
  };
}

/**
 * Everything stored that was written until now, and the directories of dead processes gone. The shipper says when a
 * round found nothing left; the first such round may have begun too early, the next one has not.
 */
export async function waitUntilDrained(gateway: TestGateway, workers: number): Promise<void> {
  const sinceMs = Date.now();
  let first: number | null = null;
  await waitUntil(
    'the spool is drained',
    async () => {
      const drainedAtMs = readDrainedAt(await gateway.api('/api/v1/status').catch(() => null));
      if (drainedAtMs === null || drainedAtMs <= sinceMs || listSpools(gateway.dataDir).length > workers)
        return undefined;
      first ??= drainedAtMs;
      return drainedAtMs > first ? true : undefined;
    },
    DRAIN_LIMIT_MS,
  ).catch((error: unknown) => {
    const left = readdirSync(join(gateway.dataDir, 'spool'), { recursive: true, encoding: 'utf8' }).join(', ');
    throw new Error(`${String(error)}: ${left}\n${gateway.output().slice(-4_000)}`);
  });
}

function readDrainedAt(status: unknown): number | null {
  if (status === null) return null;
  const { records } = asRecord(status);
  if (records === null) return null;
  const { drained_at: drainedAt } = asRecord(records);
  return typeof drainedAt === 'string' ? Date.parse(drainedAt) : null;
}

function listSpools(dataDir: string): string[] {
  return readdirSync(join(dataDir, 'spool'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name);
}

function runOf(release: string | undefined): { release?: string } {
  return release === undefined ? {} : { release };
}
