/**
 * Calls at a steady rate, whatever the answers do, on connections that are kept. Half of them go through the balancer of
 * requests, half through that of connections, where some speak HTTP/2; websockets through both.
 */
import type { CallPlan } from '../kill/call-plan.ts';
import { type ClientCall, makeCall } from '../kill/load.ts';
import { createRawClient, type RawClient } from '../kill/raw-client.ts';
import { createHttp2Client } from '../soak/http2-client.ts';
import { makeSession } from '../soak/session-client.ts';

export interface SteadyLoadOptions {
  readonly requestsPort: number;
  readonly connectionsPort: number;
  /** The key of the calls on kept connections. */
  readonly gatewayKey: string;
  /** That of all others: the one that was made last. */
  readonly latestKey: () => string;
  readonly callsPerSecond: number;
  readonly planOf: (n: number) => CallPlan;
}

export interface MadeCall extends ClientCall {
  readonly lane: string;
  /** JSON, answered at once: what it took is the way. */
  readonly isSmall: boolean;
}

export interface SteadyLoad {
  /** Ends the load and waits for the last answers. */
  readonly stop: () => Promise<{ readonly calls: readonly MadeCall[]; readonly refusedConnections: number }>;
}

interface Lane {
  readonly name: string;
  /** Those that are free, the one that has waited longest first: so each is used before it is thought to be idle. */
  readonly free: RawClient[];
  readonly open: () => RawClient;
  readonly isKept: boolean;
}

export function startSteadyLoad(options: SteadyLoadOptions): SteadyLoad {
  const { requestsPort, connectionsPort, gatewayKey, latestKey, callsPerSecond, planOf } = options;
  const lane = (name: string, open: () => RawClient, isKept = true): Lane => ({ name, open, free: [], isKept });
  const lanes = [
    lane('requests', () => createRawClient(requestsPort, gatewayKey)),
    lane('connections', () => createRawClient(connectionsPort, gatewayKey)),
    lane('requests, new', () => createRawClient(requestsPort, latestKey(), { isFresh: true }), false),
    lane('connections, HTTP/2', () => createHttp2Client(connectionsPort, gatewayKey)),
  ];
  const websockets = [
    lane('requests, websocket', () => createSessionClient(requestsPort, latestKey()), false),
    lane('connections, websocket', () => createSessionClient(connectionsPort, latestKey()), false),
  ];
  const calls: MadeCall[] = [];
  const open = new Set<Promise<void>>();
  let refusedConnections = 0;
  let number = 0;
  const startedMs = performance.now();

  async function callNext(n: number): Promise<void> {
    const plan = planOf(n);
    const from = plan.session === undefined ? lanes : websockets;
    const taken = from[n % from.length];
    if (taken === undefined) throw new Error('no lane');
    const client = taken.free.shift() ?? taken.open();
    const call = await makeCall(client, n, planOf);
    if (call === null) refusedConnections += 1;
    else calls.push({ ...call, lane: taken.name, isSmall: plan.contentType === 'application/json' });
    if (taken.isKept) taken.free.push(client);
    else client.close();
  }

  // By the clock, so that a late timer is caught up with.
  const timer = setInterval(() => {
    const due = Math.floor(((performance.now() - startedMs) * callsPerSecond) / 1_000);
    while (number < due) {
      number += 1;
      const one = callNext(number).finally(() => open.delete(one));
      open.add(one);
    }
  }, 1_000 / callsPerSecond);

  return {
    async stop() {
      clearInterval(timer);
      await Promise.all(open);
      for (const { free } of lanes) for (const client of free) client.close();
      return { calls, refusedConnections };
    },
  };
}

function createSessionClient(port: number, gatewayKey: string): RawClient {
  return {
    async call(plan) {
      if (plan.session === undefined) throw new Error('not a websocket');
      return makeSession(plan, plan.session, port, gatewayKey);
    },
    close() {},
  };
}
