/** Reads `TOLLGATE_UPSTREAM_<PROVIDER>[_<ALIAS>]`: each provider's address and its aliases. */
import { PROVIDER_NAMES, type ProviderName } from '../../vocabulary/call-record.ts';
import type { Config, Environment, UpstreamConfig } from '../../vocabulary/config.ts';
import { readAddress, trimSlash } from './given-setting.ts';
import { listAwsUpstreams, readAwsUpstream } from './read-aws-settings.ts';

const PROVIDER_AND_ALIAS = new RegExp(`^(${PROVIDER_NAMES.join('|').toUpperCase()})(?:_([A-Z0-9_]+))?$`);
const UPSTREAM_NAME = new RegExp(`^TOLLGATE_UPSTREAM_${PROVIDER_AND_ALIAS.source.slice(1)}`);

/** `bedrock-runtime.eu-west-1.amazonaws.com`, its FIPS and VPC forms, and `bedrock-mantle.eu-west-1.api.aws`. */
const AWS_HOST = /(?:^|\.)([a-z]{2}(?:-gov|-iso[a-z]?)?-[a-z]+-\d)\.(?:vpce\.)?(?:amazonaws\.com(?:\.cn)?|api\.aws)$/;

export function isUpstreamSetting(variable: string): boolean {
  return UPSTREAM_NAME.test(variable);
}

function readUpstream(name: string, value: string): UpstreamConfig {
  const url = readAddress({ name, value }, 'a base address: https://host, or https://host/prefix');
  return { origin: trimSlash(url.href), region: AWS_HOST.exec(url.hostname)?.[1] ?? null };
}

interface Upstreams {
  readonly upstreams: Config['upstreams'];
  readonly aliases: Config['aliases'];
}

export function readUpstreams(env: Environment): Upstreams {
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

/** As in the settings' names: `BEDROCK`, `BEDROCK_EU`. */
function listUpstreamNames(env: Environment): string[] {
  const addressed = Object.keys(env)
    .filter((variable) => UPSTREAM_NAME.test(variable))
    .map((variable) => variable.slice('TOLLGATE_UPSTREAM_'.length));
  return [...new Set([...addressed, ...listAwsUpstreams(env)])].sort();
}
