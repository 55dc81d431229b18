/** Everything a proxy process holds for its life. Parts that differ between a process and a test are passed in. */
import type { Logger } from 'pino';
import { createTrustedPeers, type TrustedPeers } from '../sockets/trusted-peers.ts';
import type { SpoolWriter } from '../spool/spool-writer.ts';
import type { RejectedAttempt } from '../vocabulary/channel.ts';
import { type Clock, createClock } from '../vocabulary/clock.ts';
import type { Config } from '../vocabulary/config.ts';
import type { GatewayErrorCode } from '../vocabulary/errors.ts';
import type { KeyHolder } from './authenticate.ts';
import type { AwsCredentials } from './aws/aws-credentials.ts';
import type { ProxyBudgets } from './budget/proxy-budgets.ts';
import { type ByteBudget, createByteBudget } from './byte-budget.ts';
import { type CallId, createCallIds } from './call-id.ts';
import { ClientNames } from './client-names.ts';
import { STALL_SWEEP_MS, STALL_TIMEOUT_MS } from './client-stall.ts';
import { HeaderNames } from './header-names.ts';
import { IdleSweep } from './idle-sweep.ts';
import type { CredentialHolder } from './kept-credentials.ts';
import type { KeyEnd } from './key-end.ts';
import type { LimitPurses } from './limits/limit-purses.ts';
import type { PauseHolder, PauseSubject } from './pauses.ts';
import { BODY_IDLE_MS, BODY_SWEEP_MS } from './receive-body.ts';
import { LastSecrets } from './request-secrets.ts';
import type { RouteSettings } from './route.ts';
import { StepTimes } from './step-times.ts';
import { UnorderedSet } from './unordered-set.ts';
import type { UpstreamClient } from './upstream/upstream.ts';
import { UpstreamHosts } from './upstream-place.ts';

/** For the log copies of all calls together. */
const COPIES_BYTES = 256 * 1024 * 1024;
/** For the request bodies of all calls together that are held to be edited or signed, until their calls end. */
export const HELD_BODIES_BYTES = 256 * 1024 * 1024;

/** An open call, which can be cut when the gateway stops or its key ends. */
export interface OpenCall {
  readonly keyDigest: string;
  /** Set where more calls come over it, which a pause must stop. */
  readonly subject?: PauseSubject;
  shutDown(): void;
  /** Called repeatedly while the call is open and its key is not good. */
  endKey(code: KeyEnd): void;
}

export interface Gateway {
  readonly settings: Pick<
    Config,
    'bodies' | 'usage' | 'onClientAbort' | 'onRevoke' | 'onFull' | 'node' | 'clientAddress' | 'trustedProxies'
  > &
    Partial<Pick<Config, 'traceSteps'>>;
  readonly routes: RouteSettings;
  readonly keys: KeyHolder;
  readonly pauses: PauseHolder;
  readonly credentials: CredentialHolder;
  readonly awsCredentials: AwsCredentials;
  readonly upstream: UpstreamClient;
  readonly spool: SpoolWriter;
  /** Null where nobody keeps limits. */
  readonly limits: LimitPurses | null;
  /** Null where the ledger could not be opened and no budget is known. */
  readonly budgets: ProxyBudgets | null;
  readonly copies: ByteBudget;
  readonly heldBodies: ByteBudget;
  readonly idleBodies: IdleSweep;
  readonly stalledClients: IdleSweep;
  readonly headerNames: HeaderNames;
  readonly clientNames: ClientNames;
  readonly lastSecrets: LastSecrets;
  readonly upstreamHosts: UpstreamHosts;
  /** Null when steps are not timed. */
  readonly stepTimes: StepTimes | null;
  /** Null when no proxy in front is trusted. */
  readonly trustedPeers: TrustedPeers | null;
  readonly noteUnnamedProxy: () => void;
  /** Used instead of `Date.now()`, which may jump or be wrong. */
  readonly clock: Clock;
  readonly nextCallId: () => CallId;
  readonly openCalls: UnorderedSet<OpenCall>;
  readonly counters: {
    calls: number;
    rejected: number;
    /** Calls with a record; also the ordinal of the last one. */
    accepted: number;
    /** Accepted calls whose ending is neither written nor lost. */
    inFlight: number;
    refusedFull: number;
    droppedConnections: number;
    readonly refusals: Map<GatewayErrorCode, number>;
  };
  /** Failed TLS handshakes; set only where the port speaks TLS. */
  handshakes?: { failed: number; latest: string | null };
  /** True once a stop is announced: `readyz` answers 503 and connections are not kept alive. */
  isDraining: boolean;
  /** Draining because another process took over the port; `readyz` stays 200. */
  isReplaced?: boolean;
  /** The keys on file are not compared with the database yet: `readyz` says 503, but calls are served. */
  areKeysOld?: boolean;
  readonly reportAttempt: (attempt: RejectedAttempt) => void;
  readonly log: Logger;
}

export function createGateway(
  parts: Pick<
    Gateway,
    'settings' | 'routes' | 'keys' | 'awsCredentials' | 'upstream' | 'spool' | 'reportAttempt' | 'log'
  > &
    Partial<Pick<Gateway, 'clock' | 'nextCallId' | 'stalledClients' | 'limits' | 'budgets'>>,
): Gateway {
  const clock = parts.clock ?? createClock();
  return {
    clock,
    limits: null,
    budgets: null,
    copies: createByteBudget(COPIES_BYTES),
    heldBodies: createByteBudget(HELD_BODIES_BYTES),
    pauses: { current: null },
    credentials: { current: null },
    idleBodies: new IdleSweep(BODY_IDLE_MS, BODY_SWEEP_MS),
    headerNames: new HeaderNames(),
    clientNames: new ClientNames(),
    lastSecrets: new LastSecrets(),
    upstreamHosts: new UpstreamHosts(),
    stepTimes: parts.settings.traceSteps === true ? new StepTimes() : null,
    trustedPeers: createTrustedPeers(parts.settings.trustedProxies),
    noteUnnamedProxy: createProxyNotice(parts.log),
    nextCallId: createCallIds(clock.nowMs),
    openCalls: new UnorderedSet(),
    counters: {
      calls: 0,
      rejected: 0,
      accepted: 0,
      inFlight: 0,
      refusedFull: 0,
      droppedConnections: 0,
      refusals: new Map(),
    },
    isDraining: false,
    ...parts,
    stalledClients: parts.stalledClients ?? new IdleSweep(STALL_TIMEOUT_MS, STALL_SWEEP_MS),
  };
}

/** Warns once a process of forwarding headers from an unnamed proxy; any client can write them. */
function createProxyNotice(log: Logger): () => void {
  let isSaid = false;
  return () => {
    if (isSaid) return;
    isSaid = true;
    log.warn(
      'a request came with X-Forwarded-For or the like from an address that TOLLGATE_TRUSTED_PROXIES does not name: if that is a proxy of yours, name it there, or its clients all have its address',
    );
  };
}
