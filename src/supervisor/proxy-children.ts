/** The proxy processes as children: what each is given at a start. When one is replaced, the fleet says. */
import type { ProxyStart, TlsIdentity, UpMessage } from '../channel.ts';
import type { ClockReading } from '../clock.ts';
import type { Config } from '../config.ts';
import { proxyConfig } from './child-secrets.ts';
import { removeEmptySpool } from './empty-spools.ts';
import type { ListeningSockets } from './listening-sockets.ts';
import { createProxyFleet, type ProxyFleet } from './proxy-fleet.ts';
import { type ChildBase, createSupervisedChild, LISTEN_FD, type SupervisedChild } from './supervised-child.ts';

const PROXY_READINESS_MS = 20_000;

export interface ProxyChildrenOptions {
  readonly base: ChildBase;
  /** With the addresses that are bound. */
  readonly config: Config;
  readonly spoolDir: string;
  readonly keysFile: string;
  readonly sockets: ListeningSockets;
  readonly drainMs: number;
  /** Null where the machine's clock is right. */
  readonly readClock: () => ClockReading | null;
  /** Null where the port speaks plain HTTP. */
  readonly readTls: () => TlsIdentity | null;
  /** See `ProxyStart`. */
  readonly areKeysOld: () => boolean;
  readonly onMessage: (proxy: SupervisedChild, message: UpMessage) => void;
  readonly onChange: (proxy: SupervisedChild) => void;
}

function withClock(clock: ClockReading | null): Pick<ProxyStart, 'clock'> {
  return clock === null ? {} : { clock };
}

function withTls(tls: TlsIdentity | null): Pick<ProxyStart, 'tls'> {
  return tls === null ? {} : { tls };
}

/** Creates one for each socket, without starting them. */
export function createProxyChildren(options: ProxyChildrenOptions): ProxyFleet {
  const { base, config, spoolDir, keysFile, drainMs, onMessage, onChange } = options;
  return createProxyFleet({
    listenFds: options.sockets.sockets.map((socket) => socket.fd()),
    createStart: (spoolName): ProxyStart => ({
      ...{ type: 'start', role: 'proxy', config: proxyConfig(config), listenFd: LISTEN_FD },
      ...{ spoolDir, spoolName, keysFile, areKeysOld: options.areKeysOld() },
      ...withClock(options.readClock()),
      ...withTls(options.readTls()),
    }),
    createChild: (listenFd, maxEarlyExits, createStart, onChildMessage, onChildChange) => {
      const child: SupervisedChild = createSupervisedChild({
        ...base,
        ...{ role: 'proxy', listenFd, readinessTimeoutMs: PROXY_READINESS_MS, createStart },
        onMessage: (message) => onChildMessage(child, message),
        onChange: () => onChildChange(child),
        ...(maxEarlyExits === undefined ? {} : { maxEarlyExits }),
      });
      return child;
    },
    onSpoolEnd: (name) => removeEmptySpool(spoolDir, name),
    ...{ onMessage, onChange, drainMs, log: base.log },
  });
}
