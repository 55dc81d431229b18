/**
 * The settings, as every process gets them: frozen, once read, as an argument. Types only; who reads them from flags
 * and environment, and says what is wrong with them, is `settings/read-config.ts`.
 */
import type { ProviderName } from './call-record.ts';

/** Where calls of a provider go. `origin` is scheme, host and port, with an optional path prefix; no trailing slash. */
export interface UpstreamConfig {
  readonly origin: string;
  readonly region: string | null;
  /** The address follows from the region alone: the operator named none. */
  readonly isBuiltIn?: true;
  /** Present: calls to it are signed here, whatever credentials the client sent. */
  readonly aws?: AwsSigning;
}

export interface LeadingRule {
  /** `refuse`: a redirect to another host, by which a client would send its body again, is answered 502. */
  readonly redirects: 'refuse' | 'pass';
  /** `rewrite`: absolute addresses of the upstream's own host become addresses of the gateway. */
  readonly addresses: 'keep' | 'rewrite';
}

export interface AwsKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string | null;
}

/** How calls to an upstream are signed (AWS Signature Version 4). */
export interface AwsSigning {
  /** The AWS host that the signature is for; it is sent as `Host` wherever the upstream's address leads. */
  readonly host: string;
  readonly service: string;
  readonly region: string;
  /** `ambient`: what AWS's own chain finds (environment, profile, role of the machine). */
  readonly credentials: AwsKeys | 'ambient';
}

/**
 * What a node does. `proxy`: takes calls and brings its own records into the database; `control`: dashboard, API and
 * what is done for all nodes, without proxies; `all`: both.
 */
export type NodeRole = 'all' | 'proxy' | 'control';

/** Absolute paths of files in PEM. */
export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
}

/** Above the idle time of most load balancers in front, which would otherwise re-use a connection that is just closing. */
export const DEFAULT_KEEP_ALIVE_SECONDS = 75;

export interface Config {
  readonly role: NodeRole;
  readonly host: string;
  readonly port: number;
  readonly adminHost: string;
  readonly adminPort: number;
  /** Dashboard and API may be reached from other machines without TLS. */
  readonly adminExposed: boolean;
  /** Base address that clients use, when it is not http://host:port; null otherwise. */
  readonly publicUrl: string | null;
  /** By which the proxy port speaks TLS; null: plain HTTP. */
  readonly tls: TlsFiles | null;
  /** The dashboard's own address, where it is not http://adminHost:adminPort; an origin, or null. */
  readonly adminPublicUrl: string | null;
  /** Ranges (`10.0.0.0/8`) of the proxies in front whose `X-Forwarded-For` is believed. */
  readonly trustedProxies: readonly string[];
  /** Null: made at the first start and kept in the data directory. */
  readonly adminToken: string | null;
  /** Opens `/metrics` of the admin port and nothing else; null: only the admin token does. */
  readonly metricsToken: string | null;
  readonly dataDir: string;
  /** Null: the embedded PostgreSQL. */
  readonly databaseUrl: string | null;
  /** Proxy processes. */
  readonly workers: number;
  /** Overrides of the providers' own addresses (`TOLLGATE_UPSTREAM_<PROVIDER>`). */
  readonly upstreams: Readonly<Partial<Record<ProviderName, UpstreamConfig>>>;
  /** Named upstreams by provider (`X-Gateway-Provider-Alias`). */
  readonly aliases: Readonly<Partial<Record<ProviderName, Readonly<Record<string, UpstreamConfig>>>>>;
  /** What becomes of addresses by which an answer leads its client away; by provider, then alias (`""` without one). */
  readonly leading: Readonly<Partial<Record<ProviderName, Readonly<Record<string, LeadingRule>>>>>;
  /** Proxy for the way out (`HTTP_PROXY`, `HTTPS_PROXY`, `NO_PROXY`). */
  readonly egress: {
    readonly httpProxy: string | null;
    readonly httpsProxy: string | null;
    readonly noProxy: string | null;
  };
  readonly bodies: 'full' | 'off';
  /** Whether the addresses of clients are kept with their calls. */
  readonly clientAddress: 'keep' | 'off';
  readonly usage: 'ask' | 'observe';
  readonly onClientAbort: 'cancel' | 'drain';
  /** Whether answers that are no streams are cut, too, when their key is revoked or expires. */
  readonly onRevoke: 'finish' | 'cut';
  readonly durability: 'process' | 'power';
  /** When a call's record cannot be kept: go on without it and count, or refuse the call before it is forwarded. */
  readonly onFull: 'open' | 'closed';
  /** How long the gateway serves on, with `readyz` at 503, when it is asked to stop. */
  readonly stopDelaySeconds: number;
  /** How long the proxy port keeps a connection without a request. */
  readonly keepAliveSeconds: number;
  /** How long a proxy process that is to end lets its open calls run. */
  readonly drainSeconds: number;
  /** Where newer prices are fetched from: not at all, from where they are published, or from this address. */
  readonly priceFeed: string;
  /** Whether what nobody reported is estimated, in columns of its own. */
  readonly estimates: 'on' | 'off';
  readonly retentionRowsDays: number;
  readonly retentionBodiesDays: number;
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error';
  /** The name of this machine in the column `node`. */
  readonly node: string;
  /** `npm start -- --demo`. */
  readonly demo: boolean;
}

/** What the command line gave; absent means "not given". The command line checks no value. */
export interface ConfigFlags {
  readonly role?: string;
  readonly host?: string;
  readonly port?: string;
  readonly adminHost?: string;
  readonly adminPort?: string;
  readonly adminExposed?: boolean;
  readonly publicUrl?: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly adminPublicUrl?: string;
  readonly trustedProxies?: string;
  readonly dataDir?: string;
  readonly workers?: string;
  readonly bodies?: string;
  readonly clientAddress?: string;
  readonly usage?: string;
  readonly onClientAbort?: string;
  readonly onRevoke?: string;
  readonly durability?: string;
  readonly onFull?: string;
  readonly keepAliveSeconds?: string;
  readonly drainSeconds?: string;
  readonly stopDelaySeconds?: string;
  readonly priceFeed?: string;
  readonly estimates?: string;
  readonly retentionRows?: string;
  readonly retentionBodies?: string;
  readonly logLevel?: string;
  readonly demo?: boolean;
}

/** One setting as people may see it: no secret in it. */
export interface Setting {
  /** Its environment variable, or the flag where it has none. */
  readonly name: string;
  /** Null when it is not set; `(set)` for a secret. */
  readonly value: string | null;
  readonly source: 'flag' | 'environment' | 'file' | 'default';
}
