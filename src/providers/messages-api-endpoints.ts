/**
 * The endpoints of the API whose main path is `/v1/messages`, whichever host serves it. Each provider says under
 * which prefix it stands.
 */
import {
  batchEndpoint,
  countingEndpoint,
  type EndpointTable,
  fetchedEndpoint,
  freeEndpoint,
  meteredEndpoint,
  readFromTable,
  resourceRow,
  unmeteredEndpoint,
} from './endpoint-row.ts';
import type { Endpoint } from './provider.ts';

const TABLE: EndpointTable = Object.freeze({
  posts: new Map<string, Endpoint>([
    ['/messages', meteredEndpoint('messages', 'messages')],
    // The answer's `input_tokens` is a forecast and not a usage: this is never metered.
    ['/messages/count_tokens', countingEndpoint('messages.count_tokens')],
    ['/messages/batches', { ...batchEndpoint('messages.batches', 'message-batch'), namesResults: true }],
    ['/complete', unmeteredEndpoint('complete')],
  ]),
  resources: [
    resourceRow('/messages/batches', 'messages.batches', 'free'),
    resourceRow('/messages', 'messages', 'free'),
    resourceRow('/models', 'models', 'free'),
    resourceRow('/files', 'files', 'free'),
    resourceRow('/skills', 'skills', 'free'),
    resourceRow('/sessions', 'sessions', 'billed'),
    resourceRow('/agents', 'agents', 'free'),
    resourceRow('/deployments', 'deployments', 'billed'),
    resourceRow('/dreams', 'dreams', 'billed'),
    resourceRow('/environments', 'environments', 'free'),
    resourceRow('/memory_stores', 'memory_stores', 'free'),
    resourceRow('/vaults', 'vaults', 'free'),
    resourceRow('/organizations', 'organizations', 'free'),
    resourceRow('/compliance', 'compliance', 'free'),
    resourceRow('/deployment_runs', 'deployment_runs', 'free'),
    resourceRow('/tunnels', 'tunnels', 'free'),
    resourceRow('/user_profiles', 'user_profiles', 'free'),
  ],
  // What costs is a session that is begun or told something, a deployment that runs, a dream.
  freePosts: /^\/sessions\/[^/]+(?:\/resources(?:\/.*)?)?$|^\/deployments(?:\/[^/]+)?$/,
});

const FETCHED_RESULTS = fetchedEndpoint('messages.batches', 'message-batch', true);
/** Its state, and the list of all: free, and each names where the results are. */
const STATE = Object.freeze({
  ...freeEndpoint('messages.batches'),
  shape: 'message-batch-state',
  namesResults: true,
} satisfies Endpoint);
const IS_STATE = /^\/messages\/batches(?:\/[^/]+)?$/;
/** `GET /messages/batches/{id}/results`; the batch itself has no usage. */
const RESULTS = /^\/messages\/batches\/([^/]+)\/results$/;

/** `rest` is the path behind `/v1`, e.g. `/messages`; null when this API has no such endpoint. */
export function readMessagesApiEndpoint(method: string, rest: string): Endpoint | null {
  const batchId = method === 'GET' ? RESULTS.exec(rest)?.[1] : undefined;
  if (batchId !== undefined) return { ...FETCHED_RESULTS, resultId: batchId };
  if (method === 'GET' && IS_STATE.test(rest)) return STATE;
  return readFromTable(TABLE, method, rest);
}

/** True for `/messages`, `/messages/batches`, …: what stands behind `/v1` of this API's main resource. */
export function isMessagesRoot(path: string): boolean {
  return path === '/messages' || path.startsWith('/messages/');
}
