/**
 * Reads the settings of `Config` from flags and environment. Each wrong one is an OperatorError whose one line names
 * the setting, what was given (never for a secret) and what is allowed. Nothing else reads `TOLLGATE_*`.
 */
import { availableParallelism, hostname } from 'node:os';
import { resolve } from 'node:path';
import { PROVIDER_NAMES, type ProviderName } from '../call-record.ts';
import type { Config, ConfigFlags, UpstreamConfig } from '../config.ts';
import { defaultDataDir } from '../default-data-dir.ts';
import { OperatorError } from '../errors.ts';
import { requireAdminExposure } from './exposure.ts';
import { AWS_FIELDS, isAwsSetting, listAwsUpstreams, readAwsUpstream } from './read-aws-settings.ts';
import { isLeadingSetting, readLeading } from './read-leading.ts';
import { readSecret } from './read-secret.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Every name that means something to some command, so that a misspelt one can be told. */
const KNOWN_SETTINGS = [
  'TOLLGATE_HOST',
  'TOLLGATE_PORT',
  'TOLLGATE_ADMIN_HOST',
  'TOLLGATE_ADMIN_PORT',
  'TOLLGATE_ADMIN_EXPOSED',
  'TOLLGATE_PUBLIC_URL',
  'TOLLGATE_ADMIN_TOKEN',
  'TOLLGATE_ADMIN_TOKEN_FILE',
  'TOLLGATE_METRICS_TOKEN',
  'TOLLGATE_METRICS_TOKEN_FILE',
  'TOLLGATE_ADMIN_URL',
  'TOLLGATE_DATA_DIR',
  'TOLLGATE_WORKERS',
  'TOLLGATE_ROLE',
  'TOLLGATE_BODIES',
  'TOLLGATE_USAGE',
  'TOLLGATE_ON_CLIENT_ABORT',
  'TOLLGATE_ON_REVOKE',
  'TOLLGATE_DURABILITY',
  'TOLLGATE_ON_FULL',
  'TOLLGATE_DRAIN_SECONDS',
  'TOLLGATE_STOP_DELAY_SECONDS',
  'TOLLGATE_PRICE_FEED',
  'TOLLGATE_ESTIMATES',
  'TOLLGATE_RETENTION_ROWS',
  'TOLLGATE_RETENTION_BODIES',
  'TOLLGATE_LOG_LEVEL',
  'TOLLGATE_NODE',
  // What the first start's `curl` line calls the key.
  'TOLLGATE_KEY',
  ...PROVIDER_NAMES.map((name) => `TOLLGATE_UPSTREAM_${name.toUpperCase()}`),
  ...AWS_FIELDS.map((field) => `TOLLGATE_AWS_BEDROCK_${field}`),
  ...PROVIDER_NAMES.flatMap((name) => [
    `TOLLGATE_REDIRECTS_${name.toUpperCase()}`,
    `TOLLGATE_ADDRESSES_${name.toUpperCase()}`,
  ]),
] as const;

const PROVIDER_AND_ALIAS = new RegExp(`^(${PROVIDER_NAMES.join('|').toUpperCase()})(?:_([A-Z0-9_]+))?$`);
const UPSTREAM_NAME = new RegExp(`^TOLLGATE_UPSTREAM_${PROVIDER_AND_ALIAS.source.slice(1)}`);

/** `bedrock-runtime.eu-west-1.amazonaws.com`, its FIPS and VPC forms, and `bedrock-mantle.eu-west-1.api.aws`. */
const AWS_HOST = /(?:^|\.)([a-z]{2}(?:-gov|-iso[a-z]?)?-[a-z]+-\d)\.(?:vpce\.)?(?:amazonaws\.com(?:\.cn)?|api\.aws)$/;

const MAX_WORKERS = 64;
const MAX_RETENTION_DAYS = 36_500;
/** What a load balancer needs at most to ask `readyz` and act on it, by its usual settings. */
const DEFAULT_STOP_DELAY_SECONDS = 5;
const MAX_STOP_DELAY_SECONDS = 3_600;
/** Reasoning streams last minutes; longer than the default and most orchestrators kill us anyway. */
const DEFAULT_DRAIN_SECONDS = 30;
const MAX_DRAIN_SECONDS = 86_400;

/** A setting as given: its name for messages, and its value; an empty value counts as not given. */
interface Given {
  readonly name: string;
  readonly value: string | null;
}

function refuse(given: Given, allowed: string): OperatorError {
  return new OperatorError(`${given.name}: ${JSON.stringify(given.value)} is not allowed; it must be ${allowed}`);
}

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

/** Scheme, host, port and prefix without a trailing slash. Never quotes a value that may hold a password. */
function readAddress(given: Given & { readonly value: string }, allowed: string): URL {
  const url = URL.parse(given.value);
  if (url !== null && (url.username !== '' || url.password !== '')) {
    throw new OperatorError(`${given.name}: it must be ${allowed}, without a user name or password`);
  }
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:') || url.search !== '' || url.hash !== '') {
    throw refuse(given, allowed);
  }
  return url;
}

function trimSlash(text: string): string {
  return text.replace(/\/+$/, '');
}

function readPublicUrl(given: Given): string | null {
  if (given.value === null) return null;
  const url = readAddress({ name: given.name, value: given.value }, 'an address such as https://gateway.example.com');
  return trimSlash(url.href);
}

function readUpstream(name: string, value: string): UpstreamConfig {
  const url = readAddress({ name, value }, 'a base address: https://host, or https://host/prefix');
  return { origin: trimSlash(url.href), region: AWS_HOST.exec(url.hostname)?.[1] ?? null };
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

interface Upstreams {
  readonly upstreams: Config['upstreams'];
  readonly aliases: Config['aliases'];
}

function readUpstreams(env: Environment): Upstreams {
  const upstreams: Partial<Record<ProviderName, UpstreamConfig>> = {};
  const aliases: Partial<Record<ProviderName, Record<string, UpstreamConfig>>> = {};
  for (const name of listUpstreamNames(env)) {
    const [, upperName, upperAlias] = PROVIDER_AND_ALIAS.exec(name) ?? [];
    const provider = PROVIDER_NAMES.find((known) => known.toUpperCase() === upperName);
    if (provider === undefined) continue;
    const variable = `TOLLGATE_UPSTREAM_${name}`;
    const value = env[variable]?.trim() ?? '';
    const upstream = readAwsUpstream(name, provider, value === '' ? null : readUpstream(variable, value), env);
    if (upstream === null) continue;
    if (upperAlias === undefined) {
      upstreams[provider] = upstream;
      continue;
    }
    const alias = upperAlias.toLowerCase().replaceAll('_', '-');
    aliases[provider] = { ...aliases[provider], [alias]: upstream };
  }
  return { upstreams, aliases };
}

/** As they stand in the settings' names: `BEDROCK`, `BEDROCK_EU`. */
function listUpstreamNames(env: Environment): string[] {
  const addressed = Object.keys(env)
    .filter((variable) => UPSTREAM_NAME.test(variable))
    .map((variable) => variable.slice('TOLLGATE_UPSTREAM_'.length));
  return [...new Set([...addressed, ...listAwsUpstreams(env)])].sort();
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

function refuseOtherRoles(env: Environment): void {
  const role = env['TOLLGATE_ROLE']?.trim() ?? '';
  if (role === '' || role === 'all') return;
  throw new OperatorError(
    `TOLLGATE_ROLE: ${JSON.stringify(role)} is not allowed; this version runs all roles together: "all"`,
  );
}

/** `isInTerminal`: somebody watches it and wants it gone at once when he stops it, and no load balancer is asked. */
export function readConfig(flags: ConfigFlags, env: Environment, isInTerminal = false): Config {
  refuseOtherRoles(env);
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
  const bodies = give('--retention-bodies', flags.retentionBodies, 'TOLLGATE_RETENTION_BODIES', env);
  const config: Config = {
    host: readHost(give('--host', flags.host, 'TOLLGATE_HOST', env)),
    port: readInteger(port, 4141, 0, 65_535),
    adminHost: readHost(adminHost),
    adminPort: readInteger(adminPort, 4142, 0, 65_535),
    adminExposed: readChoice(exposed, ['no', 'yes']) === 'yes',
    publicUrl: readPublicUrl(give('--public-url', flags.publicUrl, 'TOLLGATE_PUBLIC_URL', env)),
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
    usage: readChoice(give('--usage', flags.usage, 'TOLLGATE_USAGE', env), ['ask', 'observe']),
    onClientAbort: readChoice(give('--on-client-abort', flags.onClientAbort, 'TOLLGATE_ON_CLIENT_ABORT', env), [
      'cancel',
      'drain',
    ]),
    onRevoke: readChoice(give('--on-revoke', flags.onRevoke, 'TOLLGATE_ON_REVOKE', env), ['finish', 'cut']),
    durability: readChoice(give('--durability', flags.durability, 'TOLLGATE_DURABILITY', env), ['process', 'power']),
    onFull: readChoice(give('--on-full', flags.onFull, 'TOLLGATE_ON_FULL', env), ['open', 'closed']),
    stopDelaySeconds: readInteger(delay, isInTerminal ? 0 : DEFAULT_STOP_DELAY_SECONDS, 0, MAX_STOP_DELAY_SECONDS),
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
  requireAdminExposure(config, adminHost.name);
  if (config.port !== 0 && config.port === config.adminPort) {
    throw new OperatorError(`${adminPort.name}: ${config.adminPort} is also TOLLGATE_PORT; the two must differ`);
  }
  return Object.freeze(config);
}

function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [row, left] of [...a].entries()) {
    const current = [row + 1];
    for (const [column, right] of [...b].entries()) {
      const replaced = (previous[column] ?? 0) + (left === right ? 0 : 1);
      current.push(Math.min(replaced, (previous[column + 1] ?? 0) + 1, (current[column] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[b.length] ?? 0;
}

/** One line for each `TOLLGATE_*` variable that means nothing, with the known name that is nearest. */
export function listUnknownSettings(env: Environment): string[] {
  const unknown = Object.keys(env).filter(
    (name) =>
      name.startsWith('TOLLGATE_') &&
      !UPSTREAM_NAME.test(name) &&
      !isAwsSetting(name) &&
      !isLeadingSetting(name) &&
      !KNOWN_SETTINGS.some((known) => known === name),
  );
  return unknown.sort().map((name) => {
    const [nearest] = KNOWN_SETTINGS.toSorted((a, b) => editDistance(name, a) - editDistance(name, b));
    return `${name} is not a setting and has no effect; did you mean ${nearest}?`;
  });
}
