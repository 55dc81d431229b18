/** The settings in force as people may see them: each with its value and where that came from, without any secret. */
import type { Config, ConfigFlags, Setting, UpstreamConfig } from '../config.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Environment variable, flag, value in force. */
type Row = readonly [variable: string, flag: keyof ConfigFlags | null, value: string | number | null];

const HIDDEN = '(set)';

/** Without user name, password and parameters, which may hold one as well. */
function withoutSecrets(address: string | null): string | null {
  if (address === null) return null;
  const url = URL.parse(address);
  return url === null || url.host === '' ? HIDDEN : `${url.protocol}//${url.host}${url.pathname}`;
}

function listRows(config: Config): readonly Row[] {
  return [
    ['TOLLGATE_ROLE', 'role', config.role],
    ['TOLLGATE_HOST', 'host', config.host],
    ['TOLLGATE_PORT', 'port', config.port],
    ['TOLLGATE_ADMIN_HOST', 'adminHost', config.adminHost],
    ['TOLLGATE_ADMIN_PORT', 'adminPort', config.adminPort],
    ['TOLLGATE_ADMIN_EXPOSED', 'adminExposed', config.adminExposed ? 'yes' : 'no'],
    ['TOLLGATE_PUBLIC_URL', 'publicUrl', config.publicUrl],
    ['TOLLGATE_TLS_CERT', 'tlsCert', config.tls?.cert ?? null],
    ['TOLLGATE_TLS_KEY', 'tlsKey', config.tls?.key ?? null],
    ['TOLLGATE_ADMIN_PUBLIC_URL', 'adminPublicUrl', config.adminPublicUrl],
    ['TOLLGATE_TRUSTED_PROXIES', 'trustedProxies', config.trustedProxies.join(',') || null],
    ['TOLLGATE_ADMIN_TOKEN', null, config.adminToken === null ? null : HIDDEN],
    ['TOLLGATE_METRICS_TOKEN', null, config.metricsToken === null ? null : HIDDEN],
    ['TOLLGATE_DATA_DIR', 'dataDir', config.dataDir],
    ['DATABASE_URL', null, withoutSecrets(config.databaseUrl)],
    ['TOLLGATE_WORKERS', 'workers', config.workers],
    ['TOLLGATE_BODIES', 'bodies', config.bodies],
    ['TOLLGATE_CLIENT_ADDRESS', 'clientAddress', config.clientAddress],
    ['TOLLGATE_USAGE', 'usage', config.usage],
    ['TOLLGATE_ON_CLIENT_ABORT', 'onClientAbort', config.onClientAbort],
    ['TOLLGATE_ON_REVOKE', 'onRevoke', config.onRevoke],
    ['TOLLGATE_DURABILITY', 'durability', config.durability],
    ['TOLLGATE_ON_FULL', 'onFull', config.onFull],
    ['TOLLGATE_KEEP_ALIVE_SECONDS', 'keepAliveSeconds', config.keepAliveSeconds],
    ['TOLLGATE_DRAIN_SECONDS', 'drainSeconds', config.drainSeconds],
    ['TOLLGATE_STOP_DELAY_SECONDS', 'stopDelaySeconds', config.stopDelaySeconds],
    ['TOLLGATE_PRICE_FEED', 'priceFeed', config.priceFeed],
    ['TOLLGATE_ESTIMATES', 'estimates', config.estimates],
    ['TOLLGATE_RETENTION_ROWS', 'retentionRows', config.retentionRowsDays],
    ['TOLLGATE_RETENTION_BODIES', 'retentionBodies', config.retentionBodiesDays],
    ['TOLLGATE_LOG_LEVEL', 'logLevel', config.logLevel],
    ['TOLLGATE_NODE', null, config.node],
    ['HTTP_PROXY', null, withoutSecrets(config.egress.httpProxy)],
    ['HTTPS_PROXY', null, withoutSecrets(config.egress.httpsProxy)],
    ['NO_PROXY', null, config.egress.noProxy],
    ...listUpstreams(config),
    ...listLeading(config),
  ];
}

/** As they were written: an alias in lower case with hyphens is a variable in upper case with underscores. */
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
  // By custom these are written in lower case, too.
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
