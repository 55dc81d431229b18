/** The settings in force for people to see: values and sources, without secrets. */
import type { Config, ConfigFlags, Environment, Setting, UpstreamConfig } from '../../vocabulary/config.ts';
import { formatGrants } from './read-oidc.ts';

type Row = readonly [variable: string, flag: keyof ConfigFlags | null, value: string | number | null];

type NamedSetting = readonly [
  variable: string,
  flag: keyof ConfigFlags | null,
  show: (config: Config) => string | number | null,
];

const HIDDEN = '(set)';

/** Drops user name, password and parameters, which may hold a password as well. */
function withoutSecrets(address: string | null): string | null {
  if (address === null) return null;
  const url = URL.parse(address);
  return url === null || url.host === '' ? HIDDEN : `${url.protocol}//${url.host}${url.pathname}`;
}

/** Each setting with a name of its own: its variable, its flag, and how people see its value. */
export const NAMED_SETTINGS: readonly NamedSetting[] = [
  ['TOLLGATE_ROLE', 'role', (config) => config.role],
  ['TOLLGATE_HOST', 'host', (config) => config.host],
  ['TOLLGATE_PORT', 'port', (config) => config.port],
  ['TOLLGATE_ADMIN_HOST', 'adminHost', (config) => config.adminHost],
  ['TOLLGATE_ADMIN_PORT', 'adminPort', (config) => config.adminPort],
  ['TOLLGATE_ADMIN_EXPOSED', 'adminExposed', (config) => (config.adminExposed ? 'yes' : 'no')],
  ['TOLLGATE_PUBLIC_URL', 'publicUrl', (config) => config.publicUrl],
  ['TOLLGATE_TLS_CERT', 'tlsCert', (config) => config.tls?.cert ?? null],
  ['TOLLGATE_TLS_KEY', 'tlsKey', (config) => config.tls?.key ?? null],
  ['TOLLGATE_ADMIN_PUBLIC_URL', 'adminPublicUrl', (config) => config.adminPublicUrl],
  ['TOLLGATE_TRUSTED_PROXIES', 'trustedProxies', (config) => config.trustedProxies.join(',') || null],
  ['TOLLGATE_ADMIN_TOKEN', null, (config) => (config.adminToken === null ? null : HIDDEN)],
  ['TOLLGATE_METRICS_TOKEN', null, (config) => (config.metricsToken === null ? null : HIDDEN)],
  [
    'TOLLGATE_CREDENTIALS_KEY',
    null,
    ({ credentialKeys: { keys, problem } }) => problem ?? (keys.length === 0 ? null : HIDDEN),
  ],
  ['TOLLGATE_OIDC_ISSUER', null, ({ oidc }) => oidc?.issuer ?? null],
  ['TOLLGATE_OIDC_CLIENT_ID', null, ({ oidc }) => oidc?.clientId ?? null],
  ['TOLLGATE_OIDC_CLIENT_SECRET', null, ({ oidc }) => (oidc === null ? null : HIDDEN)],
  ['TOLLGATE_OIDC_GROUPS', null, ({ oidc }) => (oidc === null ? null : formatGrants(oidc.grants))],
  ['TOLLGATE_OIDC_GROUPS_CLAIM', null, ({ oidc }) => oidc?.groupsClaim ?? null],
  ['TOLLGATE_OIDC_SCOPES', null, ({ oidc }) => oidc?.scopes ?? null],
  ['TOLLGATE_OIDC_NAME', null, ({ oidc }) => oidc?.name ?? null],
  ['TOLLGATE_SMTP_URL', null, ({ alerts }) => (alerts.smtpUrl === null ? null : HIDDEN)],
  ['TOLLGATE_SMTP_FROM', null, ({ alerts }) => alerts.smtpFrom],
  ['TOLLGATE_ALERT_HOSTS', null, ({ alerts }) => alerts.hosts.join(',') || null],
  ['TOLLGATE_OIDC_SESSION_HOURS', null, ({ oidc }) => oidc?.sessionHours ?? null],
  ['TOLLGATE_DATA_DIR', 'dataDir', (config) => config.dataDir],
  ['DATABASE_URL', null, (config) => withoutSecrets(config.databaseUrl)],
  ['TOLLGATE_WORKERS', 'workers', (config) => config.workers],
  ['TOLLGATE_BODIES', 'bodies', (config) => config.bodies],
  ['TOLLGATE_SEARCH', 'search', (config) => config.search],
  ['TOLLGATE_CLIENT_ADDRESS', 'clientAddress', (config) => config.clientAddress],
  ['TOLLGATE_USAGE', 'usage', (config) => config.usage],
  ['TOLLGATE_ON_CLIENT_ABORT', 'onClientAbort', (config) => config.onClientAbort],
  ['TOLLGATE_ON_REVOKE', 'onRevoke', (config) => config.onRevoke],
  ['TOLLGATE_DURABILITY', 'durability', (config) => config.durability],
  ['TOLLGATE_ON_FULL', 'onFull', (config) => config.onFull],
  ['TOLLGATE_KEEP_ALIVE_SECONDS', 'keepAliveSeconds', (config) => config.keepAliveSeconds],
  ['TOLLGATE_DRAIN_SECONDS', 'drainSeconds', (config) => config.drainSeconds],
  ['TOLLGATE_STOP_DELAY_SECONDS', 'stopDelaySeconds', (config) => config.stopDelaySeconds],
  ['TOLLGATE_PRICE_FEED', 'priceFeed', (config) => config.priceFeed],
  ['TOLLGATE_ESTIMATES', 'estimates', (config) => config.estimates],
  ['TOLLGATE_RETENTION_ROWS', 'retentionRows', (config) => config.retentionRowsDays],
  ['TOLLGATE_RETENTION_BODIES', 'retentionBodies', (config) => config.retentionBodiesDays],
  ['TOLLGATE_LOG_LEVEL', 'logLevel', (config) => config.logLevel],
  ['TOLLGATE_TRACE_STEPS', null, (config) => (config.traceSteps ? 'yes' : 'no')],
  ['TOLLGATE_NODE', null, (config) => config.node],
  ['HTTP_PROXY', null, (config) => withoutSecrets(config.egress.httpProxy)],
  ['HTTPS_PROXY', null, (config) => withoutSecrets(config.egress.httpsProxy)],
  ['NO_PROXY', null, (config) => config.egress.noProxy],
];

function listRows(config: Config): readonly Row[] {
  return [
    ...NAMED_SETTINGS.map(([variable, flag, show]): Row => [variable, flag, show(config)]),
    ...listUpstreams(config),
    ...listLeading(config),
  ];
}

/** Aliases are upper case with underscores in the variables, lower case with hyphens in the settings. */
function* listUpstreams({ upstreams, aliases }: Config): Generator<Row> {
  for (const [provider, upstream] of Object.entries(upstreams)) yield* listUpstream(provider.toUpperCase(), upstream);
  for (const [provider, byName] of Object.entries(aliases))
    for (const [alias, upstream] of Object.entries(byName))
      yield* listUpstream(`${provider}_${alias.replaceAll('-', '_')}`.toUpperCase(), upstream);
}

function* listLeading({ leading }: Config): Generator<Row> {
  for (const [provider, byAlias] of Object.entries(leading))
    for (const [alias, { redirects, addresses }] of Object.entries(byAlias)) {
      const name = `${provider}${alias === '' ? '' : `_${alias.replaceAll('-', '_')}`}`.toUpperCase();
      if (redirects !== 'refuse') yield [`TOLLGATE_REDIRECTS_${name}`, null, redirects];
      if (addresses !== 'keep') yield [`TOLLGATE_ADDRESSES_${name}`, null, addresses];
    }
}

function* listUpstream(name: string, { origin, region, aws }: UpstreamConfig): Generator<Row> {
  yield [`TOLLGATE_UPSTREAM_${name}`, null, withoutSecrets(origin)];
  if (region !== null) yield [`TOLLGATE_AWS_${name}_REGION`, null, region];
  if (aws === undefined) return;
  if (aws.credentials === 'ambient') {
    yield [`TOLLGATE_AWS_${name}_CREDENTIALS`, null, aws.credentials];
    return;
  }
  yield [`TOLLGATE_AWS_${name}_ACCESS_KEY_ID`, null, HIDDEN];
  yield [`TOLLGATE_AWS_${name}_SECRET_ACCESS_KEY`, null, HIDDEN];
  if (aws.credentials.sessionToken !== null) yield [`TOLLGATE_AWS_${name}_SESSION_TOKEN`, null, HIDDEN];
}

function isGiven(env: Environment, name: string): boolean {
  return (env[name]?.trim() ?? '') !== '';
}

function sourceOf([variable, flag]: Row, flags: ConfigFlags, env: Environment): Setting['source'] {
  if (flag !== null && flags[flag] !== undefined) return 'flag';
  if (isGiven(env, variable)) return 'environment';
  if (isGiven(env, `${variable}_FILE`)) return 'file';
  // These are customarily written in lower case, too.
  return /_PROXY$/.test(variable) && isGiven(env, variable.toLowerCase()) ? 'environment' : 'default';
}

export function listSettings(config: Config, flags: ConfigFlags, env: Environment): readonly Setting[] {
  const settings = listRows(config).map((row): Setting => {
    const [name, , value] = row;
    return { name, value: value === null ? null : String(value), source: sourceOf(row, flags, env) };
  });
  return [
    ...settings,
    { name: '--demo', value: config.demo ? 'on' : 'off', source: flags.demo === undefined ? 'default' : 'flag' },
  ];
}
