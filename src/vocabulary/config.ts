/** The settings as every process gets them, frozen. Types only: `supervisor/settings/read-config.ts` reads them. */
import type { ProviderName } from './call-record.ts';
import type { EgressProxies } from './egress-proxy.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** `origin` is scheme, host and port, with an optional path prefix; no trailing slash. */
export interface UpstreamConfig {
  readonly origin: string;
  readonly region: string | null;
  readonly isBuiltIn?: true;
  /** Present where calls are signed here, whatever credentials the client sent. */
  readonly aws?: AwsSigning;
}

export interface LeadingRule {
  /** `refuse`: a redirect to another host, to which a client would send its body again, is answered 502. */
  readonly redirects: 'refuse' | 'pass';
  /** `rewrite`: absolute addresses on the upstream's own host become addresses of the gateway. */
  readonly addresses: 'keep' | 'rewrite';
}

export interface AwsKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string | null;
}

export interface AwsSigning {
  /** The host that the signature covers, sent as `Host` wherever the upstream's address leads. */
  readonly host: string;
  readonly service: string;
  readonly region: string;
  /** `ambient`: what AWS's own chain finds (environment, profile, role of the machine). */
  readonly credentials: AwsKeys | 'ambient';
}

/** `proxy` takes calls; `control` has dashboard, API and the work for all nodes; `all` is both. */
export type NodeRole = 'all' | 'proxy' | 'control';

export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
}

/** Above the idle time of most load balancers, which would otherwise re-use a connection that is closing. */
export const DEFAULT_KEEP_ALIVE_SECONDS = 75;

/** What members of a group of the identity provider may do. */
export interface GroupGrant {
  /** `*`: everyone whom the provider signs in. */
  readonly group: string;
  readonly accountId: number;
  readonly role: 'viewer' | 'member' | 'owner';
  readonly mayReadBodies: boolean;
}

/** The identity provider of the dashboard's sign-in (OpenID Connect). */
export interface OidcConfig {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** On the button. */
  readonly name: string;
  readonly scopes: string;
  readonly groupsClaim: string;
  readonly grants: readonly GroupGrant[];
  /** After so long the provider is asked again, and says the groups again. */
  readonly sessionHours: number;
}

/** Where alerts may go, and how mail leaves. */
export interface AlertConfig {
  /** `smtp://` or `smtps://`, mostly with user and password; null: no mail is sent. */
  readonly smtpUrl: string | null;
  readonly smtpFrom: string;
  /** Hosts, in lower case, that webhooks may go to though they are not public. */
  readonly hosts: readonly string[];
}

export interface Config {
  readonly role: NodeRole;
  readonly host: string;
  readonly port: number;
  readonly adminHost: string;
  readonly adminPort: number;
  readonly adminExposed: boolean;
  /** The base address that clients use; null for http://host:port. */
  readonly publicUrl: string | null;
  /** Null: the proxy port speaks plain HTTP. */
  readonly tls: TlsFiles | null;
  /** The dashboard's own origin; null for http://adminHost:adminPort. */
  readonly adminPublicUrl: string | null;
  /** Ranges (`10.0.0.0/8`) of the proxies in front whose `X-Forwarded-For` is believed. */
  readonly trustedProxies: readonly string[];
  /** Null: the one in the data directory, made at the first start. */
  readonly adminToken: string | null;
  /** Opens `/metrics` of the admin port only; null: the admin token does. */
  readonly metricsToken: string | null;
  /** In base64, the present one first, which seal the credentials that the gateway keeps; `problem` says why there are none. */
  readonly credentialKeys: { readonly keys: readonly string[]; readonly problem: string | null };
  /** Null: nobody signs in by an identity provider. */
  readonly oidc: OidcConfig | null;
  readonly alerts: AlertConfig;
  readonly dataDir: string;
  readonly databaseUrl: string | null;
  readonly workers: number;
  /** Replace the providers' own addresses (`TOLLGATE_UPSTREAM_<PROVIDER>`). */
  readonly upstreams: Readonly<Partial<Record<ProviderName, UpstreamConfig>>>;
  /** Named upstreams by provider (`X-Gateway-Provider-Alias`). */
  readonly aliases: Readonly<Partial<Record<ProviderName, Readonly<Record<string, UpstreamConfig>>>>>;
  /** What happens to addresses that lead around the gateway; by provider, then alias (`""` without one). */
  readonly leading: Readonly<Partial<Record<ProviderName, Readonly<Record<string, LeadingRule>>>>>;
  readonly egress: EgressProxies;
  readonly bodies: 'full' | 'off';
  /** Whether the text of kept bodies is stored beside them, for search and lists. */
  readonly search: 'on' | 'off';
  readonly clientAddress: 'keep' | 'off';
  readonly usage: 'ask' | 'observe';
  readonly onClientAbort: 'cancel' | 'drain';
  /** `cut`: answers that are not streams are cut, too, when their key is revoked or expires. */
  readonly onRevoke: 'finish' | 'cut';
  readonly durability: 'process' | 'power';
  /** When a call's record cannot be kept: forward without it and count, or refuse the call. */
  readonly onFull: 'open' | 'closed';
  /** How long the gateway keeps serving, with `readyz` at 503, when it is told to stop. */
  readonly stopDelaySeconds: number;
  readonly keepAliveSeconds: number;
  /** How long a proxy process that ends lets its open calls run. */
  readonly drainSeconds: number;
  /** `off`, `on` (where they are published), or an address. */
  readonly priceFeed: string;
  /** Whether usage that nobody reported is estimated, in separate columns. */
  readonly estimates: 'on' | 'off';
  readonly retentionRowsDays: number;
  readonly retentionBodiesDays: number;
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error';
  readonly traceSteps: boolean;
  readonly node: string;
  readonly demo: boolean;
}

/** The flags of the command line, unchecked; absent means "not given". */
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
  readonly search?: string;
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

/** One setting as people may see it, without secrets. */
export interface Setting {
  /** Its environment variable, or the flag where it has none. */
  readonly name: string;
  /** Null when it is not set; `(set)` for a secret. */
  readonly value: string | null;
  readonly source: 'flag' | 'environment' | 'file' | 'default';
}
