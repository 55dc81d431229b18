/** What a proxy process holds for its whole life and every call uses. Wired in `proxy-process.ts`; a test builds its own. */
import type { Logger } from 'pino';
import type { RejectedAttempt } from '../channel.ts';
import type { Config } from '../config.ts';
import type { GatewayErrorCode } from '../errors.ts';
import type { SpoolWriter } from '../spool/spool-writer.ts';
import type { KeyHolder } from './authenticate.ts';
import type { AwsCredentials } from './aws/aws-credentials.ts';
import type { ByteBudget } from './byte-budget.ts';
import type { CallId } from './call-id.ts';
import type { HeaderNames } from './header-names.ts';
import type { IdleSweep } from './idle-sweep.ts';
import type { OpenSet } from './open-set.ts';
import type { RouteSettings } from './route.ts';
import type { UpstreamClient } from './upstream/upstream.ts';

/** Bound on the copies for the log of all calls together. */
export const COPIES_BYTES = 256 * 1024 * 1024;
/** Bound on the request bodies that all calls together hold for asking or signing. */
export const HELD_BODIES_BYTES = 256 * 1024 * 1024;

/** A call whose answer is open; the gateway can cut it when it must stop. */
export interface OpenCall {
  shutDown(): void;
}

export interface Gateway {
  readonly settings: Pick<Config, 'bodies' | 'usage' | 'onClientAbort' | 'onFull' | 'node'>;
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
  /** True from the moment the process is asked to stop: no connection is kept alive any more. */
  isDraining: boolean;
  /** It drains because another process serves the port: the gateway goes on. */
  isReplaced?: boolean;
  readonly reportAttempt: (attempt: RejectedAttempt) => void;
  readonly log: Logger;
}
