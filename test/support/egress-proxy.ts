/** A forward proxy for tests: opens tunnels (CONNECT) to where it is asked, for those who show its user where it has one. */
import { connect, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';

export interface EgressProxyOptions {
  readonly tls?: { readonly key: string; readonly cert: string } | null;
  /** `user:password` that is asked for. */
  readonly user?: string;
  /** Where every tunnel ends instead, as `port` of this machine: for names that lead nowhere. */
  readonly port?: number;
}

export interface TestEgressProxy {
  readonly origin: string;
  /** The targets of the tunnels that it opened, in order. */
  readonly tunnels: readonly string[];
  /** Of all that it was asked, in order. */
  readonly heads: readonly string[];
  readonly close: () => Promise<void>;
}

export async function startEgressProxy(options: EgressProxyOptions = {}): Promise<TestEgressProxy> {
  const { tls = null, user = null } = options;
  const sockets: Socket[] = [];
  const tunnels: string[] = [];
  const heads: string[] = [];
  const credentials = user === null ? null : `Proxy-Authorization: Basic ${Buffer.from(user).toString('base64')}\r\n`;

  function onConnection(socket: Socket): void {
    let head = '';
    sockets.push(socket);
    socket.on('error', () => {});
    const onData = (bytes: Buffer): void => {
      head += bytes.toString('latin1');
      if (!head.includes('\r\n\r\n')) return;
      socket.off('data', onData);
      heads.push(head);
      const target = /^CONNECT (\S+):(\d+) HTTP\/1\.1\r\n/.exec(head);
      if (target === null) socket.end('HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\n\r\n');
      else if (credentials !== null && !head.includes(credentials))
        socket.end('HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n');
      else open(socket, target[1] ?? '', Number(target[2]));
    };
    socket.on('data', onData);
  }

  function open(socket: Socket, host: string, port: number): void {
    tunnels.push(`${host}:${port}`);
    const further = options.port === undefined ? connect(port, host) : connect(options.port, '127.0.0.1');
    sockets.push(further);
    further.on('error', () => socket.destroy());
    further.once('connect', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      socket.pipe(further).pipe(socket);
    });
  }

  const server: Server = tls === null ? createServer(onConnection) : createTlsServer({ ...tls }, onConnection);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `${tls === null ? 'http' : 'https'}://127.0.0.1:${Object(server.address()).port}`,
    tunnels,
    heads,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
