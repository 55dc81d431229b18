/**
 * What the endpoint tables are made of: frozen endpoints, and look-up by the method and the path behind the API's
 * version. The tables know API families, not hosts: the same family is served by several providers.
 */

import type { SessionName } from '../shapes/session.ts';
import type { ShapeName } from '../shapes/shape.ts';
import { isAtOrBelow } from './path-segment.ts';
import type { Endpoint, WebsocketEndpoint } from './provider.ts';

/** The fields that differ from one kind of endpoint to the next; the rest is what most have. */
function endpointOf(family: string, fields: Partial<Endpoint>): Endpoint {
  return Object.freeze<Endpoint>({
    family,
    shape: 'opaque',
    billed: true,
    isBatch: false,
    model: { in: 'nowhere' },
    streamed: false,
    ...fields,
  });
}

/** A path that is in no table. It is billed, so that its cost shows as unknown and never as nothing. */
export const UNKNOWN_ENDPOINT: Endpoint = endpointOf('unknown', {});

/** A call whose answer is metered; model and `stream` stand in the body. */
export function meteredEndpoint(family: string, shape: ShapeName): Endpoint {
  return endpointOf(family, { shape, model: { in: 'body' }, streamed: 'body' });
}

/** A call that costs something that its answer does not tell, or that is not metered yet. */
export function unmeteredEndpoint(family: string): Endpoint {
  return endpointOf(family, { model: { in: 'body' }, streamed: 'body' });
}

/** A job: it costs, later and elsewhere. The shape, where there is one, is of the answer that says so. */
export function batchEndpoint(family: string, shape: ShapeName = 'opaque'): Endpoint {
  return endpointOf(family, { shape, isBatch: true });
}

/** Listings, retrievals, deletions, administration: costs nothing by itself. */
export function freeEndpoint(family: string): Endpoint {
  return endpointOf(family, { billed: false });
}

/** Fetching what an earlier call asked for: `GET /batches/{id}`. */
export function fetchedEndpoint(family: string, shape: ShapeName, isBatch: boolean): Endpoint {
  return endpointOf(family, { shape, billed: false, fetchesResult: true, isBatch });
}

/** Token counting: free, but it names a model. */
export function countingEndpoint(family: string): Endpoint {
  return endpointOf(family, { billed: false, model: { in: 'body' } });
}

/** A websocket: one call, however many turns it has. The model stands in its query or in one of its messages. */
export function websocketEndpoint(family: string, session: SessionName): WebsocketEndpoint {
  return Object.freeze({ endpoint: endpointOf(family, { model: { in: 'body' }, streamed: true }), session });
}

/** Paths at or below `root` that no exact row has. */
export interface ResourceRow {
  readonly root: string;
  readonly free: Endpoint;
  /** What a POST that creates something is, when it may cost; null when everything here is free. */
  readonly posted: Endpoint | null;
}

export function resourceRow(root: string, family: string, posts: 'free' | 'billed'): ResourceRow {
  return Object.freeze<ResourceRow>({
    root,
    free: freeEndpoint(family),
    posted: posts === 'billed' ? endpointOf(family, {}) : null,
  });
}

export interface EndpointTable {
  /** POST only; by the path behind the version, e.g. `/chat/completions`. */
  readonly posts: ReadonlyMap<string, Endpoint>;
  /** First match wins, so a longer root stands before a shorter one. */
  readonly resources: readonly ResourceRow[];
  /** Below a root of which a POST may cost: those that never do by themselves. */
  readonly freePosts?: RegExp;
}

/** Telling a job or a call to stop, to wait or to go on costs nothing by itself, whatever the job costs. */
const FREE_ACTION = /(?:\/|:)(?:accept|archive|cancel|expire|hangup|pause|refer|reject|resume|unpause|validate)$/;

/** `rest` is the path behind the version, with its leading slash; null when the table does not have it. */
export function readFromTable(table: EndpointTable, method: string, rest: string): Endpoint | null {
  if (method === 'POST') {
    const exact = table.posts.get(rest);
    if (exact !== undefined) return exact;
  }
  const row = table.resources.find(({ root }) => isAtOrBelow(rest, root));
  if (row === undefined) return null;
  const isFree = method !== 'POST' || FREE_ACTION.test(rest) || table.freePosts?.test(rest) === true;
  return row.posted === null || isFree ? row.free : row.posted;
}
