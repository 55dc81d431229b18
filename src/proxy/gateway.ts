/**
 * What a proxy process holds for its whole life and every call uses. What differs between a process and a test is
 * given, the rest is made here.
 */
import type { Logger } from 'pino';
import type { RejectedAttempt } from '../channel.ts';
import { type Clock, createClock } from '../clock.ts';
import type { Config } from '../config.ts';
import type { GatewayErrorCode } from '../errors.ts';
import { createTrustedPeers, type TrustedPeers } from '../sockets/trusted-peers.ts';
import type { SpoolWriter } from '../spool/spool-writer.ts';
import type { KeyHolder } from './authenticate.ts';
import type { AwsCredentials } from './aws/aws-credentials.ts';
import { type ByteBudget, createByteBudget } from './byte-budget.ts';
import { type CallId, createCallIds } from './call-id.ts';
import { STALL_SWEEP_MS, STALL_TIMEOUT_MS } from './client-stall.ts';
import { HeaderNames } from './header-names.ts';
import { IdleSweep } from './idle-sweep.ts';
import type { KeyEnd } from './key-end.ts';
import { OpenSet } from './open-set.ts';
import { createProxyNotice } from './proxy-notice.ts';
import { BODY_IDLE_MS, BODY_SWEEP_MS } from './receive-body.ts';
import type { RouteSettings } from './route.ts';
import type { UpstreamClient } from './upstream/upstream.ts';

/** Bound on the copies for the log of all calls together. */
const COPIES_BYTES = 256 * 1024 * 1024;
/** Bound on the request bodies that all calls together hold for asking or signing. */
export const HELD_BODIES_BYTES = 256 * 1024 * 1024;

/** A call whose answer is open; the gateway can cut it when it must stop, or when its key has ended. */
export interface OpenCall {
  readonly keyDigest: string;
  shutDown(): void;
  /** The key is not good any more. Called again and again for as long as the call is open. */
  endKey(code: KeyEnd): void;
}

export interface Gateway {
  readonly settings: Pick<
    Config,
    'bodies' | 'usage' | 'onClientAbort' | 'onRevoke' | 'onFull' | 'node' | 'clientAddress' | 'trustedProxies'
  >;
  readonly routes: RouteSettings;
  readonly keys: KeyHolder;
  readonly awsCredentials: AwsCredentials;
  readonly upstream: UpstreamClient;
  readonly spool: SpoolWriter;
  readonly copies: ByteBudget;
  readonly heldBodies: ByteBudget;
  readonly idleBodies: IdleSweep;
  /** Open answers whose clients take nothing. */
  readonly stalledClients: IdleSweep;
  readonly headerNames: HeaderNames;
  /** Null when nobody in front is trusted. */
  readonly trustedPeers: TrustedPeers | null;
  readonly noteUnnamedProxy: () => void;
  /** What time it is. Not `Date.now()`: that may jump, or be wrong. */
  readonly clock: Clock;
  readonly nextCallId: () => CallId;
  readonly openCalls: OpenSet<OpenCall>;
  readonly counters: {
    calls: number;
    rejected: number;
    /** Calls that have a record to be kept; the ordinal of the last one. */
    accepted: number;
    /** Accepted calls whose ending is neither written nor given up. */
    inFlight: number;
    refusedFull: number;
    /** At the limit on connections. */
    droppedConnections: number;
    /** Refused calls by code. */
    readonly refusals: Map<GatewayErrorCode, number>;
  };
  /** TLS handshakes that came to nothing; where the port speaks TLS. */
  handshakes?: { failed: number; latest: string | null };
  /**
   * True from the moment a stop is announced or begins: `readyz` says 503, and no connection is kept alive any more.
   */
  isDraining: boolean;
  /** It drains because another process serves the port: the gateway goes on. */
  isReplaced?: boolean;
  /**
   * The keys on file are from before the start and have not been compared with the database yet: `readyz` says 503, for a
   * key that was made meanwhile would be refused. Calls that come are served.
   */
  areKeysOld?: boolean;
  readonly reportAttempt: (attempt: RejectedAttempt) => void;
  readonly log: Logger;
}

/** What differs from one process to the next. */
type GatewayParts = Pick<
  Gateway,
  'settings' | 'routes' | 'keys' | 'awsCredentials' | 'upstream' | 'spool' | 'reportAttempt' | 'log'
>;

export function createGateway(
  parts: GatewayParts & Partial<Pick<Gateway, 'clock' | 'nextCallId' | 'stalledClients'>>,
): Gateway {
  const clock = parts.clock ?? createClock();
  return {
    clock,
    copies: createByteBudget(COPIES_BYTES),
    heldBodies: createByteBudget(HELD_BODIES_BYTES),
    idleBodies: new IdleSweep(BODY_IDLE_MS, BODY_SWEEP_MS),
    headerNames: new HeaderNames(),
    trustedPeers: createTrustedPeers(parts.settings.trustedProxies),
    noteUnnamedProxy: createProxyNotice(parts.log),
    nextCallId: createCallIds(clock.nowMs),
    openCalls: new OpenSet(),
    counters: {
      ...{ calls: 0, rejected: 0, accepted: 0, inFlight: 0, refusedFull: 0, droppedConnections: 0 },
      refusals: new Map(),
    },
    isDraining: false,
    ...parts,
    stalledClients: parts.stalledClients ?? new IdleSweep(STALL_TIMEOUT_MS, STALL_SWEEP_MS),
  };
}
