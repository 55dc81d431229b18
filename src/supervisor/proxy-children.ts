/** The proxy processes as children: their start message. `proxy-fleet.ts` replaces them. */
import type { Pause, ProxyStart, SealedCredential, TlsIdentity, UpMessage } from '../vocabulary/channel.ts';
import type { ClockReading } from '../vocabulary/clock.ts';
import type { Config } from '../vocabulary/config.ts';
import { proxyConfig } from './child-secrets.ts';
import { removeEmptySpool } from './empty-spools.ts';
import type { ListeningSockets } from './listening-sockets.ts';
import { createProxyFleet, type ProxyFleet } from './proxy-fleet.ts';
import { type ChildBase, createSupervisedChild, LISTEN_FD, type SupervisedChild } from './supervised-child.ts';

const PROXY_READINESS_MS = 20_000;

export interface ProxyChildrenOptions {
  readonly base: ChildBase;
  readonly config: Config;
  readonly spoolDir: string;
  readonly keysFile: string;
  readonly sockets: ListeningSockets;
  readonly drainMs: number;
  /** Null where the machine's clock is right. */
  readonly readClock: () => ClockReading | null;
  readonly readPauses: () => readonly Pause[];
  readonly readCredentials: () => readonly SealedCredential[];
  /** Null where the port speaks plain HTTP. */
  readonly readTls: () => TlsIdentity | null;
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

export function createProxyChildren(options: ProxyChildrenOptions): ProxyFleet {
  const { base, config, spoolDir, keysFile, drainMs, onMessage, onChange } = options;
  return createProxyFleet({
    listenFds: options.sockets.sockets.map((socket) => socket.fd()),
    createStart: (spoolName): ProxyStart => ({
      type: 'start',
      role: 'proxy',
      config: proxyConfig(config),
      listenFd: LISTEN_FD,
      spoolDir,
      spoolName,
      keysFile,
      areKeysOld: options.areKeysOld(),
      ...withClock(options.readClock()),
      pauses: options.readPauses(),
      credentials: options.readCredentials(),
      ...withTls(options.readTls()),
    }),
    createChild: (listenFd, maxEarlyExits, createStart, onChildMessage, onChildChange) => {
      const child: SupervisedChild = createSupervisedChild({
        ...base,
        role: 'proxy',
        listenFd,
        readinessTimeoutMs: PROXY_READINESS_MS,
        createStart,
        onMessage: (message) => onChildMessage(child, message),
        onChange: () => onChildChange(child),
        ...(maxEarlyExits === undefined ? {} : { maxEarlyExits }),
      });
      return child;
    },
    onSpoolEnd: (name) => removeEmptySpool(spoolDir, name),
    onMessage,
    onChange,
    drainMs,
    log: base.log,
  });
}
