/** The bound sockets of the proxy port: connections wait in their queue while a proxy is replaced. */
import { lookup } from 'node:dns/promises';
import net, { type BoundSocket, isIP } from 'node:net';
import { OperatorError, readErrorCode } from '../vocabulary/errors.ts';
import { describeConnectionError } from './postgres/postgres-connection.ts';

export interface ListeningSockets {
  readonly host: string;
  readonly port: number;
  readonly sockets: readonly BoundSocket[];
}

export interface AddressSettings {
  readonly hostSetting: string;
  readonly portSetting: string;
}

const PROXY_SETTINGS: AddressSettings = { hostSetting: 'TOLLGATE_HOST', portSetting: 'TOLLGATE_PORT' };
const ADMIN_SETTINGS: AddressSettings = { hostSetting: 'TOLLGATE_ADMIN_HOST', portSetting: 'TOLLGATE_ADMIN_PORT' };

async function resolveHost(host: string, { hostSetting }: AddressSettings): Promise<string> {
  if (isIP(host) !== 0) return host;
  try {
    return (await lookup(host)).address;
  } catch (cause) {
    throw new OperatorError(`${hostSetting}: the name ${JSON.stringify(host)} cannot be resolved`, { cause });
  }
}

function explain(error: unknown, host: string, port: number, settings: AddressSettings): OperatorError {
  const { hostSetting, portSetting } = settings;
  const code = readErrorCode(error);
  const options = { cause: error };
  if (code === 'EADDRINUSE') {
    return new OperatorError(
      `${portSetting}: port ${port} on ${host} is already in use; stop the program that has it, or set another port`,
      options,
    );
  }
  if (code === 'EACCES') {
    return new OperatorError(`${portSetting}: this user may not listen on port ${port}; set one above 1023`, options);
  }
  if (code === 'EADDRNOTAVAIL' || code === 'EINVAL') {
    return new OperatorError(`${hostSetting}: ${host} is not an address of this machine`, options);
  }
  return new OperatorError(
    `${hostSetting}, ${portSetting}: cannot listen on ${host} port ${port}: ${describeConnectionError(error)}`,
    options,
  );
}

function bind(host: string, port: number, reusePort: boolean, settings: AddressSettings): BoundSocket {
  try {
    return new net.BoundSocket({ host, port, reusePort });
  } catch (error) {
    throw explain(error, host, port, settings);
  }
}

/** Throws when the port is taken; chooses one for port 0. Leaves it unbound. */
function probe(host: string, port: number, settings: AddressSettings): number {
  const socket = bind(host, port, false, settings);
  const bound = socket.address().port;
  socket.close();
  return bound;
}

export async function openListeningSockets(host: string, port: number, count: number): Promise<ListeningSockets> {
  if (!('BoundSocket' in net)) {
    throw new OperatorError(`Node ${process.versions.node} cannot bind sockets ahead: use Node 26.4 or newer`);
  }
  const address = await resolveHost(host, PROXY_SETTINGS);
  if (count === 1) {
    const socket = bind(address, port, false, PROXY_SETTINGS);
    return { host: address, port: socket.address().port, sockets: [socket] };
  }
  // SO_REUSEPORT would hide a second program of this user on the same port.
  const bound = probe(address, port, PROXY_SETTINGS);
  const sockets = Array.from({ length: count }, () => bind(address, bound, true, PROXY_SETTINGS));
  return { host: address, port: bound, sockets };
}

/** Checks the admin port, which the control process binds, and chooses one for port 0. */
export async function checkAdminPort(host: string, port: number): Promise<{ host: string; port: number }> {
  const address = await resolveHost(host, ADMIN_SETTINGS);
  return { host: address, port: probe(address, port, ADMIN_SETTINGS) };
}
