/** The admin API's listening socket, and its end. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { OperatorError } from '../errors.ts';
import { RESTORE_PATH } from './backup-resource.ts';

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

export function listenAdmin(
  app: { readonly fetch: (request: Request, bindings?: object) => Promise<Response> | Response },
  host: string,
  port: number,
): Promise<AdminServer> {
  const server = createAdaptorServer({ fetch: (request, bindings) => app.fetch(request, bindings) });
  // Node's limit knows no exception; that of the head stays.
  if ('requestTimeout' in server) server.requestTimeout = 0;
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

/** A restore takes what it takes, and looks after clients that stall itself; but only as long as it is not answered. */
function limitRequest(incoming: IncomingMessage, outgoing: ServerResponse): void {
  const limit = setInterval(() => {
    const isRestore = incoming.url?.startsWith(RESTORE_PATH) === true && !outgoing.headersSent;
    if (!incoming.complete && !isRestore) incoming.destroy();
  }, REQUEST_LIMIT_MS);
  limit.unref();
  incoming.once('close', () => clearInterval(limit));
}

function closeServer(server: ReturnType<typeof createAdaptorServer>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  server.close(() => resolve());
  if ('closeAllConnections' in server) server.closeAllConnections();
  return promise;
}
