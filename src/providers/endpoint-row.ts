/** Endpoint tables and their look-up. Tables describe API families, which several providers serve. */

import type { SessionName, UsageFormatName } from './format-names.ts';
import { isAtOrBelow } from './path-segment.ts';
import type { Endpoint, WebsocketEndpoint } from './provider.ts';

/** Takes the fields that differ from the common case. */
function endpointOf(family: string, fields: Partial<Endpoint>): Endpoint {
  return Object.freeze<Endpoint>({
    family,
    format: 'opaque',
    billed: true,
    isBatch: false,
    model: { in: 'nowhere' },
    streamed: false,
    ...fields,
  });
}

/** A path in no table. It is billed, so that its cost is unknown and not zero. */
export const UNKNOWN_ENDPOINT: Endpoint = endpointOf('unknown', {});

/** A metered call; model and `stream` stand in the body. */
export function meteredEndpoint(family: string, format: UsageFormatName): Endpoint {
  return endpointOf(family, { format, model: { in: 'body' }, streamed: 'body' });
}

/** A call whose cost the answer does not tell. */
export function unmeteredEndpoint(family: string): Endpoint {
  return endpointOf(family, { model: { in: 'body' }, streamed: 'body' });
}

/** A job that costs later; the format is that of the answer that tells so. */
export function batchEndpoint(family: string, format: UsageFormatName = 'opaque'): Endpoint {
  return endpointOf(family, { format, isBatch: true });
}

/** Listings, retrievals, deletions and administration, which are free. */
export function freeEndpoint(family: string): Endpoint {
  return endpointOf(family, { billed: false });
}

/** A fetch of an earlier call's result: `GET /batches/{id}`. */
export function fetchedEndpoint(family: string, format: UsageFormatName, isBatch: boolean): Endpoint {
  return endpointOf(family, { format, billed: false, fetchesResult: true, isBatch });
}

export function countingEndpoint(family: string): Endpoint {
  return endpointOf(family, { billed: false, model: { in: 'body' } });
}

/** A websocket counts as one call. Its query or a message names the model. */
export function websocketEndpoint(family: string, session: SessionName): WebsocketEndpoint {
  return Object.freeze({ endpoint: endpointOf(family, { model: { in: 'body' }, streamed: true }), session });
}

/** Paths at or below `root` without an exact row. */
export interface ResourceRow {
  readonly root: string;
  readonly free: Endpoint;
  /** A POST that creates something, when it may cost; null when everything is free. */
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
  /** POST only, by the unversioned path, e.g. `/chat/completions`. */
  readonly posts: ReadonlyMap<string, Endpoint>;
  /** The first match wins, so longer roots come first. */
  readonly resources: readonly ResourceRow[];
  /** POSTs that are free below a root where others may cost. */
  readonly freePosts?: RegExp;
}

/** Stopping, waiting and resuming are free, whatever the job costs. */
const FREE_ACTION = /(?:\/|:)(?:accept|archive|cancel|expire|hangup|pause|refer|reject|resume|unpause|validate)$/;

/** `rest` is the unversioned path with its leading slash; null when the table lacks it. */
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
