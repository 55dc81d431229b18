/** What is known of a call after authentication and routing; later steps only read it. */
import type { TopLevelScan } from '../formats/wire/json-top-level.ts';
import type { KeyEntry } from '../vocabulary/channel.ts';
import type { GatewayHeaders } from './gateway-headers.ts';
import type { Route } from './route.ts';
import type { ValidRequest } from './validate-request.ts';

/** `requestedAtMs` is the id's time by the process's clock; `monotonicMs` measures durations. */
export interface Arrival {
  readonly id: string;
  readonly requestedAtMs: number;
  readonly monotonicMs: number;
  /** The machine's clock; it shows later whether that clock has jumped. */
  readonly wallMs: number;
  /** The machine's clock was wrong, and `requestedAtMs` follows the database's. */
  readonly isClockCorrected: boolean;
}

export interface CallContext {
  readonly arrival: Arrival;
  readonly key: KeyEntry;
  readonly node: string;
  /** Null where the operator does not store addresses. */
  readonly clientAddress: string | null;
  readonly request: ValidRequest;
  readonly headers: GatewayHeaders;
  readonly route: Route;
  /** The gateway may ask for usage in the body. */
  readonly mayAskForUsage: boolean;
  readonly logsBodies: boolean;
  /** The websocket that it is, or is a turn of. */
  readonly connectionId: string | null;
}

/** What the request's body says about the call. */
export interface RequestedModel {
  readonly model: string | null;
  readonly streamed: boolean | null;
  /** The requested tier; absent where the body names none. */
  readonly serviceTier?: string;
  /** The requested speed and place; absent likewise. */
  readonly speed?: string;
  readonly inferenceGeo?: string;
  /** Until when a background response may be made; absent likewise. */
  readonly completionWindow?: string;
  /** The texts of the key's sources of runs that are in the body. */
  readonly runMembers?: ReadonlyMap<string, string>;
  /** Of the whole body with all its members, where a budget is going to read it. */
  readonly scan?: TopLevelScan;
}
