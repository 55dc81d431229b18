/** Keeps a number of clients busy, each with one call after another, and notes how every call ended. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type CallPlan, callIdOf } from './call-plan.ts';
import { type AnswerEnd, type Arrival, createRawClient, type RawClient } from './raw-client.ts';

/** While nobody listens. */
const REFUSED_WAIT_MS = 50;
/** Between two calls of a client. */
const THINK_MS = 20;

export interface ClientCall {
  readonly n: number;
  readonly id: string;
  readonly ending: AnswerEnd['ending'];
  readonly status: number | null;
  readonly gatewayError: string | null;
  /** Every byte is as the provider sent it: all of a complete answer, the beginning of any other. */
  readonly isRight: boolean;
  /** What came of an answer that is not complete, of a websocket as Latin-1; null otherwise. */
  readonly partOfBody: string | null;
  /** See `AnswerEnd`. */
  readonly arrivals?: readonly Arrival[];
  readonly wasReused: boolean;
  /** Monotonic. */
  readonly startedMs: number;
  readonly durationMs: number;
}

export interface LoadOptions {
  readonly port: number;
  readonly gatewayKey: string;
  readonly clients: number;
  readonly planOf: (n: number) => CallPlan;
  /** By default all keep their connection. */
  readonly createClient?: (index: number) => RawClient;
  /** Between two calls of a client; 20 ms by default. */
  readonly thinkMs?: () => number;
}

export interface Load {
  /** Ends every client after its call, and gives all the calls since the start. */
  readonly stop: () => Promise<{ readonly calls: readonly ClientCall[]; readonly refusedConnections: number }>;
}

/** Call numbers go on from load to load, so that every call of a gateway has its own. */
export interface CallNumbers {
  next: number;
}

export function startLoad(options: LoadOptions, numbers: CallNumbers): Load {
  return startClients(options, numbers, (isStopping) => !isStopping);
}

/** Every client makes one call, all at the same time; to be stopped when they are done. */
export function startCallsAtOnce(options: LoadOptions, numbers: CallNumbers): Load {
  return startClients(options, numbers, (_isStopping, callsBefore) => callsBefore === 0);
}

function startClients(
  options: LoadOptions,
  numbers: CallNumbers,
  mayCall: (isStopping: boolean, callsBefore: number) => boolean,
): Load {
  const calls: ClientCall[] = [];
  let refusedConnections = 0;
  let isStopping = false;

  const { createClient = () => createRawClient(options.port, options.gatewayKey), thinkMs = () => THINK_MS } = options;

  async function runClient(index: number): Promise<void> {
    const client = createClient(index);
    for (let callsBefore = 0; mayCall(isStopping, callsBefore); callsBefore += 1) {
      const call = await makeCall(client, numbers.next++, options.planOf);
      if (call === null) refusedConnections += 1;
      else calls.push(call);
      await sleep(call === null ? REFUSED_WAIT_MS : thinkMs());
    }
    client.close();
  }

  const running = Promise.all(Array.from({ length: options.clients }, (_, index) => runClient(index)));
  return {
    async stop() {
      isStopping = true;
      await running;
      return { calls, refusedConnections };
    },
  };
}

/** Null when there was no connection. */
export async function makeCall(
  client: RawClient,
  n: number,
  planOf: (n: number) => CallPlan,
): Promise<ClientCall | null> {
  const plan = planOf(n);
  const startedMs = performance.now();
  const answer = await client.call(plan);
  if (answer.ending === 'refused') return null;
  const { ending, status, gatewayError, body, wasReused, arrivals } = answer;
  const isSession = plan.session !== undefined && plan.trouble?.kind !== 'error';
  const expected = isSession ? plan.session.providerBytes : Buffer.from(plan.clientBody);
  const isRight = body.equals(ending === 'complete' ? expected : expected.subarray(0, body.length));
  return {
    n,
    id: callIdOf(n),
    ending,
    status,
    gatewayError,
    isRight,
    wasReused,
    startedMs,
    partOfBody: ending === 'complete' ? null : body.toString(isSession ? 'latin1' : 'utf8'),
    ...(arrivals === undefined ? {} : { arrivals }),
    durationMs: performance.now() - startedMs,
  };
}
