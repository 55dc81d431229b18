/** The admin API's listening socket, and its limits on clients. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { ConnectionPlaces, type PlaceLimits } from '../../sockets/connection-places.ts';
import { countConnections } from '../../sockets/open-file-limit.ts';
import { readCaller, saysTls } from '../../sockets/read-caller.ts';
import { SLOW_REQUEST_LIMITS, type SlowRequestLimits, SlowRequests } from '../../sockets/slow-requests.ts';
import { StalledSockets } from '../../sockets/stalled-sockets.ts';
import type { TrustedPeers } from '../../sockets/trusted-peers.ts';
import { OperatorError } from '../../vocabulary/errors.ts';
import type { Peer } from './peer.ts';
import { refuseMalformed } from './refuse-malformed.ts';
import { RESTORE_PATH } from './restore-path.ts';

/** Connections that have shown a credential; a browser tab holds a few for its live lists. */
const MAX_PROVEN_CONNECTIONS = 256;
/** Connections without a credential: signing in, health checks, or idle. */
const MAX_UNPROVEN_CONNECTIONS = 192;
const MAX_UNPROVEN_PER_CLIENT = 128;
/** Connections that have sent nothing yet. */
const MAX_NEW_CONNECTIONS = 512;
const HEADERS_TIMEOUT_MS = 15_000;
const MAX_HEADER_BYTES = 16 * 1024;
const UNREAD_TIMEOUT_MS = 5 * 60_000;

export interface AdminLimits {
  readonly places: PlaceLimits;
  readonly maxConnections: number;
  /** For the head of a request, and the interval of that check. */
  readonly headersTimeoutMs: number;
  readonly checkIntervalMs: number;
  readonly maxHeaderBytes: number;
  readonly slowRequests: SlowRequestLimits;
  /** For a client to take some of what waits for it. */
  readonly stalledMs: number;
  readonly stalledSweepMs: number;
}

export const ADMIN_LIMITS: AdminLimits = {
  places: {
    proven: MAX_PROVEN_CONNECTIONS,
    unproven: MAX_UNPROVEN_CONNECTIONS,
    unprovenPerClient: MAX_UNPROVEN_PER_CLIENT,
  },
  maxConnections: MAX_PROVEN_CONNECTIONS + MAX_UNPROVEN_CONNECTIONS + MAX_NEW_CONNECTIONS,
  headersTimeoutMs: HEADERS_TIMEOUT_MS,
  checkIntervalMs: 5_000,
  maxHeaderBytes: MAX_HEADER_BYTES,
  slowRequests: SLOW_REQUEST_LIMITS,
  stalledMs: UNREAD_TIMEOUT_MS,
  stalledSweepMs: 10_000,
};

/** With few files, the connections that store records come first. */
export function limitAdmin(openFiles: number | null): AdminLimits {
  const most = countConnections(openFiles);
  const share = Math.min(1, most / ADMIN_LIMITS.maxConnections);
  const scaled = (places: number): number => Math.max(1, Math.floor(places * share));
  return {
    ...ADMIN_LIMITS,
    places: {
      proven: scaled(MAX_PROVEN_CONNECTIONS),
      unproven: scaled(MAX_UNPROVEN_CONNECTIONS),
      unprovenPerClient: scaled(MAX_UNPROVEN_PER_CLIENT),
    },
    maxConnections: scaled(ADMIN_LIMITS.maxConnections),
  };
}

export interface AdminServer {
  readonly port: number;
  readonly close: () => Promise<void>;
}

function describeListenError(error: Error, host: string, port: number): OperatorError {
  const code = 'code' in error ? error.code : null;
  const why =
    code === 'EADDRINUSE'
      ? 'another program listens there; set another TOLLGATE_ADMIN_PORT'
      : code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND'
        ? 'this machine has no such address; set another TOLLGATE_ADMIN_HOST'
        : error.message;
  return new OperatorError(`the admin address ${host}:${port} cannot be used: ${why}`, { cause: error });
}

export interface AdminApp {
  readonly fetch: (request: Request, bindings?: object) => Promise<Response> | Response;
}

export interface ListenOptions {
  readonly limits?: AdminLimits;
  /** The proxies in front, which name the client. */
  readonly trusted?: TrustedPeers | null;
  readonly onClosedConnection?: (client: string) => void;
}

export function listenAdmin(
  app: AdminApp,
  host: string,
  port: number,
  { limits = ADMIN_LIMITS, trusted = null, onClosedConnection = () => {} }: ListenOptions = {},
): Promise<AdminServer> {
  const places = new ConnectionPlaces(limits.places, onClosedConnection);
  const server = createStrictServer(app, limits, places, trusted);
  const closeWatch = watch(server, limits, places, trusted);
  const { promise, resolve, reject } = Promise.withResolvers<AdminServer>();
  const onError = (error: Error): void => reject(describeListenError(error, host, port));
  server.once('error', onError);
  server.listen(port, host, () => {
    server.off('error', onError);
    const address: AddressInfo | string | null = server.address();
    const bound = address !== null && typeof address === 'object' ? address.port : port;
    resolve({
      port: bound,
      close: () => {
        closeWatch();
        return closeServer(server);
      },
    });
  });
  return promise;
}

function createStrictServer(
  app: AdminApp,
  limits: AdminLimits,
  places: ConnectionPlaces,
  trusted: TrustedPeers | null,
): Server {
  const server = createServer({
    requireHostHeader: false,
    // There is no websocket here, so offers to upgrade are ignored.
    shouldUpgradeCallback: () => false,
    headersTimeout: limits.headersTimeoutMs,
    connectionsCheckingInterval: limits.checkIntervalMs,
    maxHeaderSize: limits.maxHeaderBytes,
    // A large upload takes long; a stalled one is cut below.
    requestTimeout: 0,
  });
  // More headers than the limit must be refused, not silently cut off (the default).
  server.maxHeadersCount = 0;
  const answer = getRequestListener((request, bindings) => {
    const { incoming } = bindings;
    const { address, isBehindProxy } = readCaller(incoming, trusted);
    const peer: Peer = {
      client: address,
      isTls: isBehindProxy && saysTls(incoming.rawHeaders),
      prove: () => places.prove(incoming.socket),
    };
    return app.fetch(request, { ...bindings, peer });
  });
  const listener = refuseMalformed(answer);
  for (const event of ['request', 'checkContinue', 'checkExpectation'] as const) server.on(event, listener);
  return server;
}

function watch(
  server: Server,
  limits: AdminLimits,
  places: ConnectionPlaces,
  trusted: TrustedPeers | null,
): () => void {
  server.maxConnections = limits.maxConnections;
  // A restore looks after stalled clients itself.
  const slow = new SlowRequests(limits.slowRequests, ({ url }) => url?.startsWith(RESTORE_PATH) === true);
  const stalled = new StalledSockets(limits.stalledMs, limits.stalledSweepMs);
  server.on('connection', (socket: Socket) => {
    places.add(socket);
    stalled.add(socket);
  });
  // Comes before the answer, which may prove a credential at once.
  server.prependListener('request', (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const { address, isBehindProxy } = readCaller(incoming, trusted);
    places.touch(incoming.socket, isBehindProxy ? address : null);
    slow.add(incoming, outgoing);
  });
  return () => {
    slow.close();
    stalled.close();
  };
}

function closeServer(server: Server): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  server.close(() => resolve());
  server.closeAllConnections();
  return promise;
}
