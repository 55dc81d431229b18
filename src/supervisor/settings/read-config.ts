/** Reads `Config` from flags and environment, and names each wrong setting. Nothing else reads `TOLLGATE_*`. */
import { availableParallelism, hostname } from 'node:os';
import { resolve } from 'node:path';
import {
  type Config,
  type ConfigFlags,
  DEFAULT_KEEP_ALIVE_SECONDS,
  type Environment,
  type TlsFiles,
} from '../../vocabulary/config.ts';
import { defaultDataDir } from '../../vocabulary/default-data-dir.ts';
import { readProxyAddress } from '../../vocabulary/egress-proxy.ts';
import { OperatorError } from '../../vocabulary/errors.ts';
import { requireAdminExposure } from './exposure.ts';
import { type Given, readAddress, refuse, trimSlash } from './given-setting.ts';
import { readAlerts } from './read-alerts.ts';
import { readCredentialKeys } from './read-credential-keys.ts';
import { readLeading } from './read-leading.ts';
import { readOidc } from './read-oidc.ts';
import { readSecret } from './read-secret.ts';
import { readTrustedProxies } from './read-trusted-proxies.ts';
import { readUpstreams } from './read-upstreams.ts';

const MAX_WORKERS = 64;
const MAX_RETENTION_DAYS = 36_500;
/** Time for a load balancer with usual settings to ask `readyz` and act on it. */
const DEFAULT_STOP_DELAY_SECONDS = 5;
const MAX_STOP_DELAY_SECONDS = 3_600;
/** Reasoning streams last minutes, but most orchestrators kill after this time. */
const DEFAULT_DRAIN_SECONDS = 30;
const MAX_KEEP_ALIVE_SECONDS = 86_400;
const MAX_DRAIN_SECONDS = 86_400;

/** Names the variable after the flag: `adminHost`, `--admin-host`, `TOLLGATE_ADMIN_HOST`. */
function createGive(flags: ConfigFlags, env: Environment): (flag: keyof ConfigFlags) => Given {
  return (flag) => {
    const words = flag.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    const variable = `TOLLGATE_${words.replaceAll('-', '_').toUpperCase()}`;
    const given = flags[flag];
    if (given !== undefined && given !== false)
      return { name: `${variable} (--${words})`, value: given === true ? 'yes' : given };
    return readGiven(variable, env);
  };
}

function readGiven(variable: string, env: Environment): Given {
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

/** A name or an address, without scheme, port or brackets. */
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

function readTlsFiles(cert: Given, key: Given): TlsFiles | null {
  // Messages quote a file's name, and this one would be a key.
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

/** The dashboard's pages name their files from the root, so it needs a host of its own. */
function readAdminPublicUrl(given: Given): string | null {
  if (given.value === null) return null;
  const allowed = 'an address without a path, such as https://tollgate.example.com';
  const url = readAddress({ name: given.name, value: given.value }, allowed);
  if (url.pathname !== '/') throw refuse(given, allowed);
  return url.origin;
}

const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** Plain http:// is for this machine only: prices changed on the way are worse than old ones. */
function readPriceFeed(given: Given): string {
  const allowed = '"off", "on" or the https:// address of a price catalog';
  if (given.value === null) return 'off';
  const word = given.value.toLowerCase();
  if (word === 'off' || word === 'on') return word;
  const url = readAddress({ name: given.name, value: given.value }, allowed);
  if (url.protocol !== 'https:' && !LOOPBACK.test(url.hostname)) throw refuse(given, allowed);
  return url.href;
}

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

/** Customarily also written in lower case, which wins. */
function readVariable(name: string, env: Environment): string | null {
  const value = (env[name.toLowerCase()] ?? env[name])?.trim() ?? '';
  return value === '' ? null : value;
}

/** Not quoted, since the address may hold a password. */
function readProxy(name: string, env: Environment): string | null {
  const value = readVariable(name, env);
  if (value === null || readProxyAddress(value) !== null) return value;
  throw new OperatorError(
    `${name}: it must be the address of an HTTP proxy, such as http://proxy.example:3128 or http://user:password@proxy.example:3128`,
  );
}

/** The database, the control process and the machine need the other half of the cores. */
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

/** `isInTerminal`: whoever stops it there wants it gone at once, and no load balancer is asked. */
export function readConfig(flags: ConfigFlags, env: Environment, isInTerminal = false): Config {
  const give = createGive(flags, env);
  const config: Config = {
    role: readChoice(give('role'), ['all', 'proxy', 'control']),
    host: readHost(give('host')),
    port: readInteger(give('port'), 4141, 0, 65_535),
    adminHost: readHost(give('adminHost')),
    adminPort: readInteger(give('adminPort'), 4142, 0, 65_535),
    adminExposed: readChoice(give('adminExposed'), ['no', 'yes']) === 'yes',
    publicUrl: readPublicUrl(give('publicUrl')),
    tls: readTlsFiles(give('tlsCert'), give('tlsKey')),
    adminPublicUrl: readAdminPublicUrl(give('adminPublicUrl')),
    trustedProxies: readTrustedProxies(give('trustedProxies')),
    adminToken: readToken('TOLLGATE_ADMIN_TOKEN', env),
    metricsToken: readToken('TOLLGATE_METRICS_TOKEN', env),
    credentialKeys: readCredentialKeys(env),
    oidc: readOidc(env),
    alerts: readAlerts(env),
    dataDir: resolve(give('dataDir').value ?? defaultDataDir(env)),
    databaseUrl: readDatabaseUrl(env),
    workers: readInteger(give('workers'), defaultWorkers(), 1, MAX_WORKERS),
    ...readUpstreams(env),
    leading: readLeading(env),
    egress: {
      httpProxy: readProxy('HTTP_PROXY', env),
      httpsProxy: readProxy('HTTPS_PROXY', env),
      noProxy: readVariable('NO_PROXY', env),
    },
    bodies: readChoice(give('bodies'), ['full', 'off']),
    search: readChoice(give('search'), ['on', 'off']),
    clientAddress: readChoice(give('clientAddress'), ['keep', 'off']),
    usage: readChoice(give('usage'), ['ask', 'observe']),
    onClientAbort: readChoice(give('onClientAbort'), ['cancel', 'drain']),
    onRevoke: readChoice(give('onRevoke'), ['finish', 'cut']),
    durability: readChoice(give('durability'), ['process', 'power']),
    onFull: readChoice(give('onFull'), ['open', 'closed']),
    stopDelaySeconds: readInteger(
      give('stopDelaySeconds'),
      isInTerminal ? 0 : DEFAULT_STOP_DELAY_SECONDS,
      0,
      MAX_STOP_DELAY_SECONDS,
    ),
    keepAliveSeconds: readInteger(give('keepAliveSeconds'), DEFAULT_KEEP_ALIVE_SECONDS, 1, MAX_KEEP_ALIVE_SECONDS),
    drainSeconds: readInteger(give('drainSeconds'), DEFAULT_DRAIN_SECONDS, 0, MAX_DRAIN_SECONDS),
    priceFeed: readPriceFeed(give('priceFeed')),
    estimates: readChoice(give('estimates'), ['on', 'off']),
    retentionRowsDays: readInteger(give('retentionRows'), 90, 1, MAX_RETENTION_DAYS),
    retentionBodiesDays: readInteger(give('retentionBodies'), 14, 0, MAX_RETENTION_DAYS),
    logLevel: readChoice(give('logLevel'), ['info', 'debug', 'warn', 'error']),
    traceSteps: readChoice(readGiven('TOLLGATE_TRACE_STEPS', env), ['no', 'yes']) === 'yes',
    node: env['TOLLGATE_NODE']?.trim() || hostname(),
    demo: flags.demo ?? false,
  };
  requirePlaceForRole(config, give('role').name);
  requireAdminExposure(config, give('adminHost').name);
  if (config.role !== 'control' && config.port !== 0 && config.port === config.adminPort) {
    throw new OperatorError(
      `${give('adminPort').name}: ${config.adminPort} is also TOLLGATE_PORT; the two must differ`,
    );
  }
  return Object.freeze(config);
}
