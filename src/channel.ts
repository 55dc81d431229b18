/**
 * All messages between the supervisor and its children: two closed unions. Records never travel here (the spool is
 * their only way), and no call ever waits on a message.
 */
import type { ClockReading } from './clock.ts';
import type { Config, Setting } from './config.ts';

/** A refused attempt, for "why does nothing arrive?". No key, no query, no body. */
export interface RejectedAttempt {
  readonly atMs: number;
  /** A code of `GATEWAY_ERRORS`. */
  readonly code: string;
  readonly status: number;
  readonly method: string;
  readonly path: string;
  readonly provider: string | null;
  readonly userAgent: string | null;
  /** Null when clients' addresses are not kept; absent from a process of the release before. */
  readonly clientAddress?: string | null;
}

export interface ProxyMetrics {
  readonly openCalls: number;
  readonly callsTotal: number;
  readonly rejectedTotal: number;
  /** The same by code of `GATEWAY_ERRORS`. */
  readonly refusals?: Readonly<Record<string, number>>;
  /** The process directory in the spool that the counts below belong to: all of them begin at 0 with it. */
  readonly spoolName: string;
  /** Calls that have a record to be kept: key and route were known. The highest `ordinal` that was given out. */
  readonly acceptedTotal: number;
  /** Accepted calls whose ending is neither written nor given up: `acceptedTotal` − `keptTotal` − `recordsLost`. */
  readonly inFlight: number;
  /** Calls whose ending is in the spool (whether stored since or not). */
  readonly keptTotal: number;
  /** Calls whose ending could not be written to the spool. */
  readonly recordsLost: number;
  /** Bodies that were not kept for want of space. */
  readonly bodiesDropped: number;
  /** Endings that were shortened for want of space. */
  readonly compactedTotal: number;
  /** Bytes on their way to the disk. */
  readonly spoolPendingBytes: number;
  /** Calls refused because their record could not be kept (`log_unavailable`); each has an ordinal as well. */
  readonly refusedFullTotal: number;
  /** Connections that were closed at the limit on them. */
  readonly droppedConnections: number;
  /** TLS handshakes that came to nothing; absent where the port speaks plain HTTP. */
  readonly failedHandshakes?: number;
  /** Why the last one did, in OpenSSL's words. */
  readonly latestFailedHandshake?: string;
  readonly rssBytes: number;
}

/** One key as the proxy needs it. */
export interface KeyEntry {
  /** SHA-256 of the key, hex. */
  readonly digest: string;
  readonly keyId: number;
  readonly accountId: number;
  readonly revoked: boolean;
  readonly expiresAtMs: number | null;
  /** Overrides of the deployment's settings; null = as the deployment. */
  readonly usage: 'ask' | 'observe' | null;
  readonly bodies: 'full' | 'off' | null;
}

/** A change of the key snapshot from `baseVersion` to `version`. One who does not have `baseVersion` reads the file. */
export interface KeyChange {
  readonly baseVersion: number;
  readonly version: number;
  readonly upserts: readonly KeyEntry[];
}

/** By what a proxy process shows itself to its clients, and takes up their sessions. */
export interface TlsIdentity {
  /** In PEM: the server's own certificate, then those that lead to an authority. */
  readonly cert: string;
  readonly key: string;
  /** The same in all processes, so that a client is known again by whichever it meets; 48 bytes in base64. */
  readonly ticketKeys: string;
}

/** Of the certificate that is in force. */
export interface CertificateStatus {
  readonly validFromMs: number;
  readonly validToMs: number;
  /** Hosts that it is valid for. */
  readonly names: readonly string[];
  /** Why the files are not what is in force: they hold no usable pair at the moment; null when they are. */
  readonly problem: string | null;
}

/** The first message to a proxy process. Secrets travel over the channel, never on a command line. */
export interface ProxyStart {
  readonly type: 'start';
  readonly role: 'proxy';
  /**
   * Without `databaseUrl`, `adminToken` and `metricsToken`: they are null here. `host` and `port` are the bound ones.
   */
  readonly config: Config;
  /** The file descriptor of the bound socket to listen on: `server.listen({ fd })`. */
  readonly listenFd: number;
  /** The folder of all spools; this process writes `spoolDir`/`spoolName`, which no other process ever used. */
  readonly spoolDir: string;
  readonly spoolName: string;
  /** The full key snapshot; absent before the first publication. */
  readonly keysFile: string;
  /** The file is of before this start of the gateway: the keys of now come with the first `keys-changed`. */
  readonly areKeysOld?: boolean;
  /** Where the machine's clock is wrong. */
  readonly clock?: ClockReading;
  /** Where the port speaks TLS. */
  readonly tls?: TlsIdentity;
}

/** The first message to the control process. It binds `config.adminHost`:`config.adminPort` itself. */
export interface ControlStart {
  readonly type: 'start';
  readonly role: 'control';
  readonly config: Config;
  readonly adminToken: string;
  readonly databaseUrl: string;
  readonly spoolDir: string;
  readonly keysFile: string;
  /** As in `live-spools`, at this moment. */
  readonly liveSpools: readonly string[];
  /** For the page that shows them. */
  readonly settings: readonly Setting[];
  /** The base address that clients use. */
  readonly proxyOrigin: string;
}

/** The first message to the local fake provider of `--demo`. */
export interface DemoStart {
  readonly type: 'start';
  readonly role: 'demo';
  readonly listenFd: number;
  /** What the aliases named `demo` point to: the address of `listenFd`. */
  readonly origin: string;
}

export type StartMessage = ProxyStart | ControlStart | DemoStart;

/** Supervisor → child. The first message is always `start`. */
export type DownMessage =
  | StartMessage
  /** Stop gracefully: proxies drain, the control process ships what is left. */
  | {
      readonly type: 'stop';
      readonly graceMs: number;
      /** Another process serves the same port already, so that this one may take its time. */
      readonly isReplaced?: boolean;
    }
  /** The gateway will stop soon: `readyz` says so, no connection is kept, and everything is served as before. */
  | { readonly type: 'stop-announced' }
  /**
   * To proxies: apply, then answer `keys-applied`. The full snapshot is in the file `keys.json` of the data directory.
   */
  | { readonly type: 'keys-changed'; readonly change: KeyChange }
  /** To proxies: for connections from now on. */
  | { readonly type: 'tls-renewed'; readonly identity: TlsIdentity }
  /** To proxies: what time it is, when that is not what the machine's clock said at their start. */
  | { readonly type: 'clock'; readonly reading: ClockReading }
  /** To control: every live proxy has version ≥ this one (or `false`: one did not answer in 5 s). */
  | { readonly type: 'keys-published'; readonly version: number; readonly confirmed: boolean }
  /** To control: the spool directories whose writer is alive; any other directory belongs to a dead process. */
  | { readonly type: 'live-spools'; readonly names: readonly string[] }
  /** To control: the answer to `status-request`. */
  | { readonly type: 'status'; readonly requestId: number; readonly status: SupervisorStatus };

/** Child → supervisor. */
export type UpMessage =
  /** The child works: a proxy accepts calls, control has its API up. */
  | { readonly type: 'ready' }
  | { readonly type: 'keys-applied'; readonly version: number }
  | { readonly type: 'rejected'; readonly attempts: readonly RejectedAttempt[]; readonly notShown: number }
  | { readonly type: 'metrics'; readonly metrics: ProxyMetrics }
  /** From control: hand this to every proxy, report with `keys-published`. */
  | { readonly type: 'publish-keys'; readonly change: KeyChange }
  /** From control: hand this to every proxy, also to those that start later. */
  | { readonly type: 'clock'; readonly reading: ClockReading }
  | { readonly type: 'status-request'; readonly requestId: number }
  /** From control: replace every proxy process, then the control process. Seen in the status. */
  | { readonly type: 'restart-proxies' };

export interface ChildStatus {
  readonly role: 'proxy' | 'control' | 'postgres' | 'demo';
  readonly pid: number | null;
  /** `draining`: takes no new call, ends when the open ones have; `crash_loop`: ended again and again, is tried on. */
  readonly state: 'starting' | 'ready' | 'restarting' | 'crash_loop' | 'draining' | 'stopping';
  readonly startedAtMs: number;
  readonly restarts: number;
  /** How often it ended unasked within the last five minutes. */
  readonly recentExits: number;
  /** Why the last run ended, e.g. `exit 1`, `SIGKILL`; null on the first run. */
  readonly lastExit: string | null;
  readonly metrics: ProxyMetrics | null;
}

/** Restarts are numbered; one that is asked for while another is under way follows it, and serves for all who asked. */
export interface RestartStatus {
  readonly requested: number;
  readonly finished: number;
  /** Why the last finished one did not replace everything; null when it did. */
  readonly problem: string | null;
}

export interface SupervisorStatus {
  readonly startedAtMs: number;
  readonly restart: RestartStatus;
  readonly children: readonly ChildStatus[];
  /** Absent where the proxy port speaks plain HTTP. */
  readonly certificate?: CertificateStatus;
  /** The last 100, newest last, and how many more were not kept. */
  readonly attempts: readonly RejectedAttempt[];
  /** All that were ever in that list: tells attempts apart that look the same. */
  readonly attemptsTotal: number;
  readonly attemptsNotShown: number;
}

/** A child's end of the channel. */
export interface ChildChannel {
  /** Called for every message, `start` first. */
  readonly onMessage: (listener: (message: DownMessage) => void) => void;
  /** Never waits and never throws; false when the supervisor is gone. */
  readonly send: (message: UpMessage) => boolean;
  /** The supervisor is gone: finish what is open, and exit within 5 s. */
  readonly onDisconnect: (listener: () => void) => void;
}
