/** The endpoints of the API with `/v1/messages`, for every provider that serves it. */
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
    // Never metered: the answer's `input_tokens` is a forecast.
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
  // Beginning or messaging a session, running a deployment and dreaming cost.
  freePosts: /^\/sessions\/[^/]+(?:\/resources(?:\/.*)?)?$|^\/deployments(?:\/[^/]+)?$/,
});

const FETCHED_RESULTS = fetchedEndpoint('messages.batches', 'message-batch', true);
/** A state and the list of all are free and name the results' address. */
const STATE = Object.freeze({
  ...freeEndpoint('messages.batches'),
  format: 'message-batch-state',
  namesResults: true,
} satisfies Endpoint);
const IS_STATE = /^\/messages\/batches(?:\/[^/]+)?$/;
const RESULTS = /^\/messages\/batches\/([^/]+)\/results$/;

/** `rest` is the path after `/v1`, e.g. `/messages`; null for no such endpoint. */
export function readMessagesApiEndpoint(method: string, rest: string): Endpoint | null {
  const batchId = method === 'GET' ? RESULTS.exec(rest)?.[1] : undefined;
  if (batchId !== undefined) return { ...FETCHED_RESULTS, resultId: batchId };
  if (method === 'GET' && IS_STATE.test(rest)) return STATE;
  return readFromTable(TABLE, method, rest);
}

/** True for `/messages`, `/messages/batches`, …, without `/v1`. */
export function isMessagesRoot(path: string): boolean {
  return path === '/messages' || path.startsWith('/messages/');
}
