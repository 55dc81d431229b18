/** Reads `TOLLGATE_AWS_<PROVIDER>[_<ALIAS>]_…`: region and credentials. No message quotes a secret. */
import { isAwsRegion, readAwsHost, runtimeHost, runtimeHostOf } from '../../providers/aws-host.ts';
import { PROVIDER_NAMES, PROVIDERS, type ProviderName } from '../../providers/registry.ts';
import type { AwsKeys, AwsSigning, Environment, UpstreamConfig } from '../../vocabulary/config.ts';
import { OperatorError } from '../../vocabulary/errors.ts';
import { readSecret } from './read-secret.ts';

export const AWS_FIELDS = ['REGION', 'CREDENTIALS', 'ACCESS_KEY_ID', 'SECRET_ACCESS_KEY', 'SESSION_TOKEN'] as const;

const AWS_SETTING = new RegExp(
  `^TOLLGATE_AWS_((?:${PROVIDER_NAMES.join('|').toUpperCase()})(?:_[A-Z0-9_]+?)?)_` +
    '(?:REGION|CREDENTIALS|(?:ACCESS_KEY_ID|SECRET_ACCESS_KEY|SESSION_TOKEN)(?:_FILE)?)$',
);

const ACCESS_KEY_ID = /^\w{16,128}$/;
const SECRET = /^[\x21-\x7e]{1,8192}$/;

export function isAwsSetting(variable: string): boolean {
  return AWS_SETTING.test(variable);
}

/** The upstreams with such settings, named as there: `BEDROCK`, `BEDROCK_EU`. */
export function listAwsUpstreams(env: Environment): string[] {
  const names = Object.keys(env)
    .filter((variable) => (env[variable]?.trim() ?? '') !== '')
    .map((variable) => AWS_SETTING.exec(variable)?.[1])
    .filter((name) => name !== undefined);
  return [...new Set(names)].sort();
}

/** `given` comes from `TOLLGATE_UPSTREAM_<name>`. Null when neither says anything. */
export function readAwsUpstream(
  name: string,
  provider: ProviderName,
  given: UpstreamConfig | null,
  env: Environment,
): UpstreamConfig | null {
  const prefix = `TOLLGATE_AWS_${name}`;
  const wanted = readRegion(`${prefix}_REGION`, env);
  const credentials = readCredentials(prefix, env);
  if (wanted === null && credentials === null) return given;

  const host = given === null ? null : readAwsHost(new URL(given.origin).host);
  if (host !== null && wanted !== null && host.region !== wanted) {
    throw new OperatorError(
      `${prefix}_REGION: ${JSON.stringify(wanted)} is not the region of TOLLGATE_UPSTREAM_${name}, which is ${host.region}`,
    );
  }
  const region = wanted ?? host?.region ?? null;
  if (region === null) {
    throw new OperatorError(`${prefix}_REGION: it must be set, since TOLLGATE_UPSTREAM_${name} does not tell a region`);
  }
  // A region is enough where the provider's own address is AWS's.
  const isAtHome = readAwsHost(new URL(PROVIDERS[provider].origin(region)).host) !== null;
  if (host === null && !isAtHome) {
    throw new OperatorError(
      `${prefix}_REGION: TOLLGATE_UPSTREAM_${name} must then be the address of an AWS host that serves models, such as https://${runtimeHost(region)}`,
    );
  }
  const target = host ?? runtimeHostOf(region);
  const origin = given?.origin ?? `https://${target.name}`;
  const place = given === null ? ({ origin, region, isBuiltIn: true } as const) : { origin, region };
  if (credentials === null) return place;
  const aws: AwsSigning = { host: target.name, service: target.service, region, credentials };
  return { ...place, aws };
}

function readRegion(variable: string, env: Environment): string | null {
  const value = env[variable]?.trim() ?? '';
  if (value === '') return null;
  if (isAwsRegion(value)) return value;
  throw new OperatorError(
    `${variable}: ${JSON.stringify(value)} is not allowed; it must be an AWS region such as eu-west-1`,
  );
}

function readCredentials(prefix: string, env: Environment): AwsSigning['credentials'] | null {
  const keys = readKeys(prefix, env);
  const kind = env[`${prefix}_CREDENTIALS`]?.trim().toLowerCase() ?? '';
  if (kind === '') return keys;
  if (kind !== 'ambient') {
    throw new OperatorError(
      `${prefix}_CREDENTIALS: it must be "ambient" (AWS's own chain: environment, profile, role); keys go into ${prefix}_ACCESS_KEY_ID and ${prefix}_SECRET_ACCESS_KEY`,
    );
  }
  if (keys !== null) {
    throw new OperatorError(`${prefix}_CREDENTIALS and ${prefix}_ACCESS_KEY_ID are both set; set one of them`);
  }
  return 'ambient';
}

function readKeys(prefix: string, env: Environment): AwsKeys | null {
  const accessKeyId = readChecked(`${prefix}_ACCESS_KEY_ID`, env, ACCESS_KEY_ID);
  const secretAccessKey = readChecked(`${prefix}_SECRET_ACCESS_KEY`, env, SECRET);
  const sessionToken = readChecked(`${prefix}_SESSION_TOKEN`, env, SECRET);
  if (accessKeyId !== null && secretAccessKey !== null) return { accessKeyId, secretAccessKey, sessionToken };
  const missing = accessKeyId === null ? 'ACCESS_KEY_ID' : 'SECRET_ACCESS_KEY';
  const present =
    accessKeyId !== null ? 'ACCESS_KEY_ID' : secretAccessKey !== null ? 'SECRET_ACCESS_KEY' : 'SESSION_TOKEN';
  if (accessKeyId === null && secretAccessKey === null && sessionToken === null) return null;
  throw new OperatorError(`${prefix}_${present} is set, but ${prefix}_${missing} is not; they belong together`);
}

function readChecked(variable: string, env: Environment, pattern: RegExp): string | null {
  const value = readSecret(variable, env);
  if (value === null || pattern.test(value)) return value;
  throw new OperatorError(`${variable}: its value does not look like one that AWS gives out`);
}
