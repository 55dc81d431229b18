/** Calls a provider by the upstream client alone, without the rest of the gateway, and collects what it hands over. */
import type {
  UpstreamCall,
  UpstreamClient,
  UpstreamEvents,
  UpstreamRequest,
} from '../../src/proxy/upstream/upstream.ts';
import type { UpstreamFailure } from '../../src/proxy/upstream/upstream-failure.ts';
import type { UpstreamLimits } from '../../src/proxy/upstream/upstream-limits.ts';
import { DEFAULT_LIMITS } from '../../src/proxy/upstream/upstream-limits.ts';

export const NO_EGRESS = { httpProxy: null, httpsProxy: null, noProxy: null } as const;

/** Every kept connection is looked at once more, since the tests' providers close theirs at once. */
export const TEST_LIMITS: UpstreamLimits = { ...DEFAULT_LIMITS, trustedIdleMs: 0, sweepIntervalMs: 20 };

export interface Outcome {
  readonly status: number | null;
  readonly rawHeaders: readonly string[];
  readonly rawTrailers: readonly string[];
  readonly body: string;
  /** For each connection the call was put on. */
  readonly isReused: readonly boolean[];
  readonly failure: UpstreamFailure | null;
}

export interface RunningCall {
  readonly call: UpstreamCall;
  readonly outcome: Promise<Outcome>;
  readonly hasHead: Promise<void>;
}

export function startCall(
  client: UpstreamClient,
  request: Partial<UpstreamRequest> & { readonly origin: string },
  onData: (chunk: Buffer, call: UpstreamCall) => void = () => {},
): RunningCall {
  const head = Promise.withResolvers<void>();
  const done = Promise.withResolvers<Outcome>();
  const isReused: boolean[] = [];
  let status: number | null = null;
  let rawHeaders: readonly string[] = [];
  let rawTrailers: readonly string[] = [];
  let body = '';
  const settle = (failure: UpstreamFailure | null): void => {
    head.resolve();
    done.resolve({ status, rawHeaders, rawTrailers, body, isReused, failure });
  };
  const events: UpstreamEvents = {
    onConnection: (reused) => isReused.push(reused),
    onHead(code, _reason, raw) {
      status = code;
      rawHeaders = raw;
      head.resolve();
    },
    onData(chunk) {
      if (body.length < 1_000) body += chunk.toString('latin1', 0, 1_000);
      onData(chunk, call);
    },
    onTrailers: (raw) => {
      rawTrailers = raw;
    },
    onEnd: () => settle(null),
    onFailure: settle,
  };
  const whole = { mayBePrivate: true, method: 'GET', path: '/', headers: [], body: null, bodyBytes: null, ...request };
  const call = client.send(whole, events);
  return { call, outcome: done.promise, hasHead: head.promise };
}

export function callOnce(
  client: UpstreamClient,
  request: Partial<UpstreamRequest> & { readonly origin: string },
): Promise<Outcome> {
  return startCall(client, request).outcome;
}
