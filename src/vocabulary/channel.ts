/** All messages between the supervisor and its children. No record travels here; no call waits on one. */
import type { ProviderName } from './call-record.ts';
import type { ClockReading } from './clock.ts';
import type { Config, Setting } from './config.ts';
import type { AccountLimit, Limit, LimitAnswer, LimitAsk, LimitRecall, LimitReturn, LimitUse } from './limit.ts';

/** A refused attempt, for "why does nothing arrive?". It holds no key, query or body. */
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

/** Upper bounds of the times of a call's steps, most of which take microseconds. */
export const STEP_BOUNDS_SECONDS = [5e-6, 2e-5, 1e-4, 5e-4, 2.5e-3, 1e-2, 0.1, 1, 10, 60] as const;

export interface StepHistogram {
  /** Not cumulative: one for each bound, and one for what took longer. */
  readonly counts: readonly number[];
  readonly seconds: number;
}

export interface ProxyMetrics {
  readonly openCalls: number;
  readonly callsTotal: number;
  readonly rejectedTotal: number;
  readonly refusals?: Readonly<Record<string, number>>;
  /** The process directory in the spool that the counts below belong to; they begin at 0 with it. */
  readonly spoolName: string;
  /** Calls that have a record to keep, since key and route were known: the highest `ordinal`. */
  readonly acceptedTotal: number;
  /** Accepted calls whose ending is neither written nor given up: `acceptedTotal` − `endsSpooled` − `recordsLost`. */
  readonly inFlight: number;
  readonly endsSpooled: number;
  readonly recordsLost: number;
  readonly bodiesDropped: number;
  readonly compactedTotal: number;
  readonly spoolPendingBytes: number;
  readonly refusedFullTotal: number;
  readonly droppedConnections: number;
  /** Absent where the port speaks plain HTTP. */
  readonly failedHandshakes?: number;
  readonly latestFailedHandshake?: string;
  /** By the step's name; absent where steps are not timed. */
  readonly steps?: Readonly<Record<string, StepHistogram>>;
  readonly rssBytes: number;
}

/** What a run token says of its calls, where their own headers do not. */
export interface RunContext {
  readonly traceId: string | null;
  readonly spanPath: string | null;
  readonly provider: string | null;
  readonly providerAlias: string | null;
  readonly metadata: readonly (readonly [string, string])[];
}

/** Calls of this run or key are refused until somebody resumes it. */
export interface Pause {
  readonly accountId: number;
  readonly scope: 'run' | 'key';
  /** The trace id, or the number of the key. */
  readonly value: string;
  /** Number of the hit, by which it is resumed. */
  readonly hitId: number;
  /** For the client: a sentence of ours, with nothing of a request. */
  readonly reason: string;
  readonly sinceMs: number;
}

/** A provider's credential that the gateway keeps, as it lies in the database: what is here does not open it. */
export interface SealedCredential {
  readonly accountId: number;
  readonly provider: ProviderName;
  /** In lower case. */
  readonly alias: string;
  /** Where it may be sent. */
  readonly origin: string;
  /** Which key of the operator wraps the data key. */
  readonly keyName: string;
  /** Base64, as `sealed`: nonce, ciphertext, tag. */
  readonly wrappedKey: string;
  readonly sealed: string;
}

/** What a key's calls may use; an absent list allows all. A run token has that of its key. */
export interface KeyAllowance {
  readonly providers?: readonly string[];
  /** As the client names them, with `*` for any characters; without case. */
  readonly models?: readonly string[];
  /** Configured aliases in lower case; `-` for a provider's own upstream. */
  readonly aliases?: readonly string[];
  /** Families of the providers' endpoints (`chat.completions`), with `*`. */
  readonly endpoints?: readonly string[];
  /** Each as `<address>/<bits>`. */
  readonly networks?: readonly string[];
}

/** A gateway key, or a run token with what it has of its key. */
export interface KeyEntry {
  /** SHA-256 of the key or token, hex. */
  readonly digest: string;
  readonly keyId: number;
  readonly accountId: number;
  readonly revoked: boolean;
  readonly expiresAtMs: number | null;
  /** Overrides the deployment's settings; null keeps them. */
  readonly usage: 'ask' | 'observe' | null;
  readonly bodies: 'full' | 'off' | null;
  /** Where runs come from besides the header, in this order (`run-sources.ts`); absent: from nowhere else. */
  readonly runsFrom?: readonly string[];
  /** The key may stand in a client's base address. Absent where it may not, and in what a former release wrote. */
  readonly allowInAddress?: true;
  /** Its calls may set a budget for their run. Absent where they may not. */
  readonly allowRunBudget?: true;
  /** Whose it is, in the operator's words. */
  readonly owner?: string;
  /** Absent where the key may use everything. */
  readonly allow?: KeyAllowance;
  /** Absent where the key has none of its own. */
  readonly limit?: Limit;
  /** The key with which it shares limits and budgets: the first of its rotations. Absent where it is that itself. */
  readonly firstKeyId?: number;
  /** Absent for a key. */
  readonly run?: RunContext;
}

/** A change of the key snapshot. A receiver that does not have `baseVersion` reads the file. */
export interface KeyChange {
  readonly baseVersion: number;
  readonly version: number;
  readonly upserts: readonly KeyEntry[];
  /** Digests that are no longer there; absent for none. */
  readonly removed?: readonly string[];
  /** All limits of accounts; absent where they are as before. */
  readonly limits?: readonly AccountLimit[];
}

export interface TlsIdentity {
  /** In PEM: the server's own certificate, then those that lead to an authority. */
  readonly cert: string;
  readonly key: string;
  /** Shared by all processes, so that each can resume a client's TLS session; 48 bytes in base64. */
  readonly ticketKeys: string;
}

export interface CertificateStatus {
  readonly validFromMs: number;
  readonly validToMs: number;
  readonly names: readonly string[];
  /** Why the pair in the files is not the one in force; null when it is. */
  readonly problem: string | null;
}

/** The first message to a proxy process. Secrets travel over the channel, never on a command line. */
export interface ProxyStart {
  readonly type: 'start';
  readonly role: 'proxy';
  /** `databaseUrl`, `adminToken` and `metricsToken` are null here; `host` and `port` are the bound ones. */
  readonly config: Config;
  readonly listenFd: number;
  /** This process writes `spoolDir`/`spoolName`, which no other process ever used. */
  readonly spoolDir: string;
  readonly spoolName: string;
  /** The full key snapshot; the file is absent before the first publication. */
  readonly keysFile: string;
  /** The file dates from before this start: the current keys come with the first `keys-changed`. */
  readonly areKeysOld?: boolean;
  /** Absent where the machine's clock is right. */
  readonly clock?: ClockReading;
  /** Absent where nothing is paused. */
  readonly pauses?: readonly Pause[];
  /** Absent where none is kept. */
  readonly credentials?: readonly SealedCredential[];
  /** Absent where the port speaks plain HTTP. */
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
  readonly liveSpools: readonly string[];
  readonly settings: readonly Setting[];
  readonly proxyOrigin: string;
}

/** The first message to the local fake provider of `--demo`. */
export interface DemoStart {
  readonly type: 'start';
  readonly role: 'demo';
  readonly listenFd: number;
  /** The address of `listenFd`, to which the aliases named `demo` point. */
  readonly origin: string;
}

export type StartMessage = ProxyStart | ControlStart | DemoStart;

export type DownMessage =
  | StartMessage
  /** Stop gracefully: proxies drain, the control process ships what is left. */
  | {
      readonly type: 'stop';
      readonly graceMs: number;
      /** Another process serves the same port already, so this one may take its time. */
      readonly isReplaced?: boolean;
    }
  /** The gateway will stop soon: `readyz` says so, no connection is kept, and calls are served as before. */
  | { readonly type: 'stop-announced' }
  | { readonly type: 'keys-changed'; readonly change: KeyChange }
  | LimitAnswer
  | LimitRecall
  | { readonly type: 'tls-renewed'; readonly identity: TlsIdentity }
  /** To proxies: all that is paused now. */
  | { readonly type: 'pauses'; readonly pauses: readonly Pause[] }
  /** To proxies: all credentials that are kept now. */
  | { readonly type: 'credentials'; readonly credentials: readonly SealedCredential[] }
  /** To proxies: the time, when it is not what the machine's clock said at their start. */
  | { readonly type: 'clock'; readonly reading: ClockReading }
  /** To control: every live proxy has this version or a newer one (`false`: one did not answer in 5 s). */
  | { readonly type: 'keys-published'; readonly version: number; readonly confirmed: boolean }
  /** To control: the spool directories whose writer is alive; any other belongs to a dead process. */
  | { readonly type: 'live-spools'; readonly names: readonly string[] }
  | { readonly type: 'status'; readonly requestId: number; readonly status: SupervisorStatus };

export type UpMessage =
  /** A proxy accepts calls, or control has its API up. */
  | { readonly type: 'ready' }
  | { readonly type: 'keys-applied'; readonly version: number }
  | LimitAsk
  | LimitReturn
  /** From control: how many nodes are live, this one included; each has its share of every limit. */
  | { readonly type: 'live-nodes'; readonly count: number }
  | { readonly type: 'rejected'; readonly attempts: readonly RejectedAttempt[]; readonly notShown: number }
  | { readonly type: 'metrics'; readonly metrics: ProxyMetrics }
  /** From control: give this to every proxy, report with `keys-published`. */
  | { readonly type: 'publish-keys'; readonly change: KeyChange }
  /** From control: give this to every proxy, also to those that start later. */
  | { readonly type: 'clock'; readonly reading: ClockReading }
  /** From control: as the one before, all that is paused now. */
  | { readonly type: 'pauses'; readonly pauses: readonly Pause[] }
  /** From control: as the one before, all credentials that are kept now. */
  | { readonly type: 'credentials'; readonly credentials: readonly SealedCredential[] }
  | { readonly type: 'status-request'; readonly requestId: number }
  /** From control: replace every proxy process, then the control process. The status shows it. */
  | { readonly type: 'restart-proxies' };

export interface ChildStatus {
  readonly role: 'proxy' | 'control' | 'postgres' | 'demo';
  readonly pid: number | null;
  /** `draining`: ends when its open calls have; `crash_loop`: ended again and again, and is still started. */
  readonly state: 'starting' | 'ready' | 'restarting' | 'crash_loop' | 'draining' | 'stopping';
  readonly startedAtMs: number;
  readonly restarts: number;
  readonly recentExits: number;
  /** Why the last run ended, e.g. `exit 1`, `SIGKILL`; null on the first run. */
  readonly lastExit: string | null;
  readonly metrics: ProxyMetrics | null;
}

/** Restarts are numbered; one that is requested during another follows it, for all who asked meanwhile. */
export interface RestartStatus {
  readonly requested: number;
  readonly finished: number;
  /** Why the last one did not replace everything; null when it did. */
  readonly problem: string | null;
}

export interface SupervisorStatus {
  readonly startedAtMs: number;
  readonly restart: RestartStatus;
  readonly children: readonly ChildStatus[];
  /** What is in use of limits on this node; the latest used first. Absent from a supervisor of the release before. */
  readonly limitUse?: readonly LimitUse[];
  /** Absent where the proxy port speaks plain HTTP. */
  readonly certificate?: CertificateStatus;
  /** The last 100, newest last; `attemptsNotShown` counts those that were not kept. */
  readonly attempts: readonly RejectedAttempt[];
  /** All that were ever in that list, which tells apart attempts that look alike. */
  readonly attemptsTotal: number;
  readonly attemptsNotShown: number;
}

export interface ChildChannel {
  readonly onMessage: (listener: (message: DownMessage) => void) => void;
  /** Never waits and never throws; false when the supervisor is gone. */
  readonly send: (message: UpMessage) => boolean;
  /** The supervisor is gone: finish open work and exit within 5 s. */
  readonly onDisconnect: (listener: () => void) => void;
}
