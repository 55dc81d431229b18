/** The admin API's listening socket, and its end. */
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { OperatorError } from '../errors.ts';

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

function closeServer(server: ReturnType<typeof createAdaptorServer>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  server.close(() => resolve());
  if ('closeAllConnections' in server) server.closeAllConnections();
  return promise;
}
