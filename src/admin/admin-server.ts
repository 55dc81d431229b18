/** The admin API's listening socket, and its end. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { OperatorError } from '../errors.ts';
import { RESTORE_PATH } from './backup-resource.ts';
import { refuseMalformed } from './refuse-malformed.ts';

/** For a whole request with its body, as of Node's own server. */
const REQUEST_LIMIT_MS = 300_000;

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

export function listenAdmin(app: AdminApp, host: string, port: number): Promise<AdminServer> {
  const server = createStrictServer(app);
  // Node's limit knows no exception; that of the head stays.
  server.requestTimeout = 0;
  server.on('request', limitRequest);
  const { promise, resolve, reject } = Promise.withResolvers<AdminServer>();
  const onError = (error: Error): void => reject(describeListenError(error, host, port));
  server.once('error', onError);
  server.listen(port, host, () => {
    server.off('error', onError);
    const address: AddressInfo | string | null = server.address();
    const bound = address !== null && typeof address === 'object' ? address.port : port;
    resolve({ port: bound, close: () => closeServer(server) });
  });
  return promise;
}

function createStrictServer(app: AdminApp): Server {
  // Without a websocket on this port, an offer of another protocol is left unanswered.
  const server = createServer({ requireHostHeader: false, shouldUpgradeCallback: () => false });
  // More headers than the limit must be refused, not silently cut off (the default).
  server.maxHeadersCount = 0;
  const listener = refuseMalformed(getRequestListener((request, bindings) => app.fetch(request, bindings)));
  for (const event of ['request', 'checkContinue', 'checkExpectation'] as const) server.on(event, listener);
  return server;
}

/** A restore takes what it takes, and looks after clients that stall itself; but only as long as it is not answered. */
function limitRequest(incoming: IncomingMessage, outgoing: ServerResponse): void {
  const limit = setInterval(() => {
    const isRestore = incoming.url?.startsWith(RESTORE_PATH) === true && !outgoing.headersSent;
    if (!incoming.complete && !isRestore) incoming.destroy();
  }, REQUEST_LIMIT_MS);
  limit.unref();
  incoming.once('close', () => clearInterval(limit));
}

function closeServer(server: Server): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  server.close(() => resolve());
  server.closeAllConnections();
  return promise;
}
