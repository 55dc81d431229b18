/** The admin API's listening socket, and its end. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { OperatorError } from '../errors.ts';
import { refuseMalformed } from './refuse-malformed.ts';

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

function closeServer(server: Server): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  server.close(() => resolve());
  server.closeAllConnections();
  return promise;
}
