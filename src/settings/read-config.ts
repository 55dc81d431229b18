/**
 * Reads the settings of `Config` from flags and environment. Each wrong one is an OperatorError whose one line names
 * the setting, what was given (never for a secret) and what is allowed. Nothing else reads `TOLLGATE_*`.
 */
import { availableParallelism, hostname } from 'node:os';
import { resolve } from 'node:path';
import { type Config, type ConfigFlags, DEFAULT_KEEP_ALIVE_SECONDS, type TlsFiles } from '../config.ts';
import { defaultDataDir } from '../default-data-dir.ts';
import { OperatorError } from '../errors.ts';
import { requireAdminExposure } from './exposure.ts';
import { type Environment, type Given, readAddress, refuse, trimSlash } from './given-setting.ts';
import { readLeading } from './read-leading.ts';
import { readSecret } from './read-secret.ts';
import { readTrustedProxies } from './read-trusted-proxies.ts';
import { readUpstreams } from './read-upstreams.ts';

const MAX_WORKERS = 64;
const MAX_RETENTION_DAYS = 36_500;
/** What a load balancer needs at most to ask `readyz` and act on it, by its usual settings. */
const DEFAULT_STOP_DELAY_SECONDS = 5;
const MAX_STOP_DELAY_SECONDS = 3_600;
/** Reasoning streams last minutes; longer than the default and most orchestrators kill us anyway. */
const DEFAULT_DRAIN_SECONDS = 30;
/** An idle connection holds a place of a client. */
const MAX_KEEP_ALIVE_SECONDS = 86_400;
const MAX_DRAIN_SECONDS = 86_400;

function give(flagName: string, flag: string | undefined, variable: string, env: Environment): Given {
  if (flag !== undefined) return { name: `${variable} (${flagName})`, value: flag };
  const value = env[variable]?.trim() ?? '';
  return { name: variable, value: value === '' ? null : value };
}

function readInteger(given: Given, fallback: number, min: number, max: number): number {
  if (given.value === null) return fallback;
  const value = /^\d{1,9}$/.test(given.value) ? Number(given.value) : -1;
  if (value < min || value > max) throw refuse(given, `a whole number from ${min} to ${max}`);
  return value;
}

function readChoice<const T extends string>(given: Given, choices: readonly [T, ...T[]]): T {
  if (given.value === null) return choices[0];
  const wanted = given.value.toLowerCase();
  const found = choices.find((choice) => choice === wanted);
  if (found === undefined) throw refuse(given, choices.map((choice) => `"${choice}"`).join(' or '));
  return found;
}

/** A host to listen on: a name or an address, without scheme, port or brackets. */
function readHost(given: Given): string {
  if (given.value === null) return '127.0.0.1';
  const value = given.value.replace(/^\[(.*)\]$/, '$1');
  if (!/^[A-Za-z0-9._-]+$|^[0-9A-Fa-f:.]+(%[A-Za-z0-9]+)?$/.test(value)) {
    throw refuse(given, 'a host name or an IP address to listen on, such as 127.0.0.1 or 0.0.0.0');
  }
  return value;
}

function readPublicUrl(given: Given): string | null {
  if (given.value === null) return null;
  const url = readAddress({ name: given.name, value: given.value }, 'an address such as https://gateway.example.com');
  return trimSlash(url.href);
}

/** Their content is read, and read again, by the supervisor. */
function readTlsFiles(cert: Given, key: Given): TlsFiles | null {
  // Whatever becomes of a file is said with its name, and this one would be a key.
  for (const { name, value } of [cert, key])
    if (value?.includes('-----BEGIN') === true)
      throw new OperatorError(
        `${name}: it must be the name of a file in PEM, and is given what belongs into that file`,
      );
  if (cert.value === null && key.value === null) return null;
  if (cert.value !== null && key.value !== null) return { cert: resolve(cert.value), key: resolve(key.value) };
  const [given, missing] = cert.value === null ? [key, cert] : [cert, key];
  throw new OperatorError(
    `${given.name} is set and ${missing.name} is not: the proxy port speaks TLS with both, plain HTTP with neither`,
  );
}

/** The dashboard's pages name their files from the root, so it has a host of its own. */
function readAdminPublicUrl(given: Given): string | null {
  if (given.value === null) return null;
  const allowed = 'an address without a path, such as https://tollgate.example.com';
  const url = readAddress({ name: given.name, value: given.value }, allowed);
  if (url.pathname !== '/') throw refuse(given, allowed);
  return url.origin;
}

const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** Prices that somebody on the way can change are worse than old ones, so it is https:// but on this machine. */
function readPriceFeed(given: Given): string {
  const allowed = '"off", "on" or the https:// address of a price catalogue';
  if (given.value === null) return 'off';
  const word = given.value.toLowerCase();
  if (word === 'off' || word === 'on') return word;
  const url = readAddress({ name: given.name, value: given.value }, allowed);
  if (url.protocol !== 'https:' && !LOOPBACK.test(url.hostname)) throw refuse(given, allowed);
  return url.href;
}

/** What they mean stands in docs/operating.md. */
const SSL_MODES: readonly string[] = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'];

function readDatabaseUrl(env: Environment): string | null {
  const value = readSecret('DATABASE_URL', env);
  if (value !== null && !/^postgres(ql)?:\/\//.test(value)) {
    throw new OperatorError('DATABASE_URL: it must be of the form postgresql://user:password@host:5432/database');
  }
  const mode = value === null ? undefined : /[?&]sslmode=([^&]*)/.exec(value)?.[1];
  if (mode !== undefined && !SSL_MODES.includes(mode))
    throw new OperatorError(`DATABASE_URL: sslmode may be ${SSL_MODES.join(', ')}, and not "${mode.slice(0, 40)}"`);
  return value;
}

function readToken(variable: 'TOLLGATE_ADMIN_TOKEN' | 'TOLLGATE_METRICS_TOKEN', env: Environment): string | null {
  const value = readSecret(variable, env);
  if (value !== null && !/^[\x21-\x7e]{16,512}$/.test(value)) {
    throw new OperatorError(`${variable}: it must be 16 to 512 printable ASCII characters without spaces`);
  }
  return value;
}

/** These are by custom also written in lower case, which then wins. */
function readVariable(name: string, env: Environment): string | null {
  const value = (env[name.toLowerCase()] ?? env[name])?.trim() ?? '';
  return value === '' ? null : value;
}

/** Half the cores, so that the database, the control process and the machine's own work have the others. */
function defaultWorkers(): number {
  return Math.min(4, Math.max(1, Math.floor(availableParallelism() / 2)));
}

function requirePlaceForRole({ role, databaseUrl, demo }: Config, roleName: string): void {
  if (role === 'all') return;
  if (demo) throw new OperatorError(`--demo: it is for a gateway on one machine, which has the role "all"`);
  if (databaseUrl === null)
    throw new OperatorError(
      `${roleName}: "${role}" needs DATABASE_URL, the PostgreSQL that all nodes share; without one a gateway has the role "all"`,
    );
}

/** `isInTerminal`: somebody watches it and wants it gone at once when he stops it, and no load balancer is asked. */
export function readConfig(flags: ConfigFlags, env: Environment, isInTerminal = false): Config {
  const role = give('--role', flags.role, 'TOLLGATE_ROLE', env);
  const dataDir = give('--data-dir', flags.dataDir, 'TOLLGATE_DATA_DIR', env);
  const port = give('--port', flags.port, 'TOLLGATE_PORT', env);
  const adminPort = give('--admin-port', flags.adminPort, 'TOLLGATE_ADMIN_PORT', env);
  const adminHost = give('--admin-host', flags.adminHost, 'TOLLGATE_ADMIN_HOST', env);
  const exposed = give(
    '--admin-exposed',
    flags.adminExposed === true ? 'yes' : undefined,
    'TOLLGATE_ADMIN_EXPOSED',
    env,
  );
  const rows = give('--retention-rows', flags.retentionRows, 'TOLLGATE_RETENTION_ROWS', env);
  const delay = give('--stop-delay-seconds', flags.stopDelaySeconds, 'TOLLGATE_STOP_DELAY_SECONDS', env);
  const drain = give('--drain-seconds', flags.drainSeconds, 'TOLLGATE_DRAIN_SECONDS', env);
  const keepAlive = give('--keep-alive-seconds', flags.keepAliveSeconds, 'TOLLGATE_KEEP_ALIVE_SECONDS', env);
  const bodies = give('--retention-bodies', flags.retentionBodies, 'TOLLGATE_RETENTION_BODIES', env);
  const config: Config = {
    role: readChoice(role, ['all', 'proxy', 'control']),
    host: readHost(give('--host', flags.host, 'TOLLGATE_HOST', env)),
    port: readInteger(port, 4141, 0, 65_535),
    adminHost: readHost(adminHost),
    adminPort: readInteger(adminPort, 4142, 0, 65_535),
    adminExposed: readChoice(exposed, ['no', 'yes']) === 'yes',
    publicUrl: readPublicUrl(give('--public-url', flags.publicUrl, 'TOLLGATE_PUBLIC_URL', env)),
    tls: readTlsFiles(
      give('--tls-cert', flags.tlsCert, 'TOLLGATE_TLS_CERT', env),
      give('--tls-key', flags.tlsKey, 'TOLLGATE_TLS_KEY', env),
    ),
    adminPublicUrl: readAdminPublicUrl(
      give('--admin-public-url', flags.adminPublicUrl, 'TOLLGATE_ADMIN_PUBLIC_URL', env),
    ),
    trustedProxies: readTrustedProxies(
      give('--trusted-proxies', flags.trustedProxies, 'TOLLGATE_TRUSTED_PROXIES', env),
    ),
    adminToken: readToken('TOLLGATE_ADMIN_TOKEN', env),
    metricsToken: readToken('TOLLGATE_METRICS_TOKEN', env),
    dataDir: resolve(dataDir.value ?? defaultDataDir(env)),
    databaseUrl: readDatabaseUrl(env),
    workers: readInteger(give('--workers', flags.workers, 'TOLLGATE_WORKERS', env), defaultWorkers(), 1, MAX_WORKERS),
    ...readUpstreams(env),
    leading: readLeading(env),
    egress: {
      httpProxy: readVariable('HTTP_PROXY', env),
      httpsProxy: readVariable('HTTPS_PROXY', env),
      noProxy: readVariable('NO_PROXY', env),
    },
    bodies: readChoice(give('--bodies', flags.bodies, 'TOLLGATE_BODIES', env), ['full', 'off']),
    clientAddress: readChoice(give('--client-address', flags.clientAddress, 'TOLLGATE_CLIENT_ADDRESS', env), [
      'keep',
      'off',
    ]),
    usage: readChoice(give('--usage', flags.usage, 'TOLLGATE_USAGE', env), ['ask', 'observe']),
    onClientAbort: readChoice(give('--on-client-abort', flags.onClientAbort, 'TOLLGATE_ON_CLIENT_ABORT', env), [
      'cancel',
      'drain',
    ]),
    onRevoke: readChoice(give('--on-revoke', flags.onRevoke, 'TOLLGATE_ON_REVOKE', env), ['finish', 'cut']),
    durability: readChoice(give('--durability', flags.durability, 'TOLLGATE_DURABILITY', env), ['process', 'power']),
    onFull: readChoice(give('--on-full', flags.onFull, 'TOLLGATE_ON_FULL', env), ['open', 'closed']),
    stopDelaySeconds: readInteger(delay, isInTerminal ? 0 : DEFAULT_STOP_DELAY_SECONDS, 0, MAX_STOP_DELAY_SECONDS),
    keepAliveSeconds: readInteger(keepAlive, DEFAULT_KEEP_ALIVE_SECONDS, 1, MAX_KEEP_ALIVE_SECONDS),
    drainSeconds: readInteger(drain, DEFAULT_DRAIN_SECONDS, 0, MAX_DRAIN_SECONDS),
    priceFeed: readPriceFeed(give('--price-feed', flags.priceFeed, 'TOLLGATE_PRICE_FEED', env)),
    estimates: readChoice(give('--estimates', flags.estimates, 'TOLLGATE_ESTIMATES', env), ['on', 'off']),
    retentionRowsDays: readInteger(rows, 90, 1, MAX_RETENTION_DAYS),
    retentionBodiesDays: readInteger(bodies, 14, 0, MAX_RETENTION_DAYS),
    logLevel: readChoice(give('--log-level', flags.logLevel, 'TOLLGATE_LOG_LEVEL', env), [
      'info',
      'debug',
      'warn',
      'error',
    ]),
    node: env['TOLLGATE_NODE']?.trim() || hostname(),
    demo: flags.demo ?? false,
  };
  requirePlaceForRole(config, role.name);
  requireAdminExposure(config, adminHost.name);
  if (config.role !== 'control' && config.port !== 0 && config.port === config.adminPort) {
    throw new OperatorError(`${adminPort.name}: ${config.adminPort} is also TOLLGATE_PORT; the two must differ`);
  }
  return Object.freeze(config);
}
