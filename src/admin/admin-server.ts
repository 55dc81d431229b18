/** The admin API's listening socket, what its clients may take of it, and its end. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { OperatorError } from '../errors.ts';
import { countConnections } from '../sockets/open-file-limit.ts';
import { SLOW_REQUEST_LIMITS, type SlowRequestLimits, SlowRequests } from '../sockets/slow-requests.ts';
import { UnreadSockets } from '../sockets/unread-sockets.ts';
import { RESTORE_PATH } from './backup-resource.ts';
import { refuseMalformed } from './refuse-malformed.ts';

/** Browser tabs hold a few each, for live lists. */
const MAX_CONNECTIONS = 256;
const HEADERS_TIMEOUT_MS = 15_000;
const MAX_HEADER_BYTES = 16 * 1024;
const UNREAD_TIMEOUT_MS = 5 * 60_000;

export interface AdminLimits {
  /** Further ones are closed at once. */
  readonly maxConnections: number;
  /** For the head of a request, and how often that is looked at. */
  readonly headersTimeoutMs: number;
  readonly checkIntervalMs: number;
  readonly maxHeaderBytes: number;
  readonly slowRequests: SlowRequestLimits;
  /** For a client to take something of what waits for it. */
  readonly unreadMs: number;
  readonly unreadSweepMs: number;
}

export const ADMIN_LIMITS: AdminLimits = {
  maxConnections: MAX_CONNECTIONS,
  headersTimeoutMs: HEADERS_TIMEOUT_MS,
  checkIntervalMs: 5_000,
  maxHeaderBytes: MAX_HEADER_BYTES,
  slowRequests: SLOW_REQUEST_LIMITS,
  unreadMs: UNREAD_TIMEOUT_MS,
  unreadSweepMs: 10_000,
};

/** Where few files may be open, those that store the records come first: connections need no credentials. */
export function limitAdmin(openFiles: number | null): AdminLimits {
  return { ...ADMIN_LIMITS, maxConnections: Math.min(MAX_CONNECTIONS, countConnections(openFiles)) };
}

export interface AdminServer {
  readonly port: number;
  /** Stops listening and cuts what is open (live tails last for hours). */
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

export function listenAdmin(
  app: AdminApp,
  host: string,
  port: number,
  limits: AdminLimits = ADMIN_LIMITS,
): Promise<AdminServer> {
  const server = createStrictServer(app, limits);
  const closeWatch = watch(server, limits);
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

function createStrictServer(app: AdminApp, limits: AdminLimits): Server {
  const server = createServer({
    requireHostHeader: false,
    // Without a websocket on this port, an offer of another protocol is left unanswered.
    shouldUpgradeCallback: () => false,
    headersTimeout: limits.headersTimeoutMs,
    connectionsCheckingInterval: limits.checkIntervalMs,
    maxHeaderSize: limits.maxHeaderBytes,
    // A large upload may take its time; one that does not move is cut below.
    requestTimeout: 0,
  });
  // More headers than the limit must be refused, not silently cut off (the default).
  server.maxHeadersCount = 0;
  const listener = refuseMalformed(getRequestListener((request, bindings) => app.fetch(request, bindings)));
  for (const event of ['request', 'checkContinue', 'checkExpectation'] as const) server.on(event, listener);
  return server;
}

function watch(server: Server, limits: AdminLimits): () => void {
  server.maxConnections = limits.maxConnections;
  // A restore takes what it takes, and looks after clients that stall itself.
  const slow = new SlowRequests(limits.slowRequests, ({ url }) => url?.startsWith(RESTORE_PATH) === true);
  const unread = new UnreadSockets(limits.unreadMs, limits.unreadSweepMs);
  server.on('connection', (socket: Socket) => unread.add(socket));
  server.on('request', (incoming: IncomingMessage, outgoing: ServerResponse) => slow.add(incoming, outgoing));
  return () => {
    slow.close();
    unread.close();
  };
}

function closeServer(server: Server): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  server.close(() => resolve());
  server.closeAllConnections();
  return promise;
}
