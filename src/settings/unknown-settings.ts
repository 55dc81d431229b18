/** Names in the environment that look like settings and are none, so that a misspelt one is told. */
import { PROVIDER_NAMES } from '../call-record.ts';
import type { Environment } from './given-setting.ts';
import { AWS_FIELDS, isAwsSetting } from './read-aws-settings.ts';
import { isLeadingSetting } from './read-leading.ts';
import { isUpstreamSetting } from './read-upstreams.ts';

/** Every name that means something to some command. */
const KNOWN_SETTINGS = [
  'TOLLGATE_HOST',
  'TOLLGATE_PORT',
  'TOLLGATE_ADMIN_HOST',
  'TOLLGATE_ADMIN_PORT',
  'TOLLGATE_ADMIN_EXPOSED',
  'TOLLGATE_PUBLIC_URL',
  'TOLLGATE_TLS_CERT',
  'TOLLGATE_TLS_KEY',
  'TOLLGATE_ADMIN_PUBLIC_URL',
  'TOLLGATE_TRUSTED_PROXIES',
  'TOLLGATE_ADMIN_TOKEN',
  'TOLLGATE_ADMIN_TOKEN_FILE',
  'TOLLGATE_METRICS_TOKEN',
  'TOLLGATE_METRICS_TOKEN_FILE',
  'TOLLGATE_ADMIN_URL',
  'TOLLGATE_DATA_DIR',
  'TOLLGATE_WORKERS',
  'TOLLGATE_ROLE',
  'TOLLGATE_BODIES',
  'TOLLGATE_CLIENT_ADDRESS',
  'TOLLGATE_USAGE',
  'TOLLGATE_ON_CLIENT_ABORT',
  'TOLLGATE_ON_REVOKE',
  'TOLLGATE_DURABILITY',
  'TOLLGATE_ON_FULL',
  'TOLLGATE_KEEP_ALIVE_SECONDS',
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
      !isUpstreamSetting(name) &&
      !isAwsSetting(name) &&
      !isLeadingSetting(name) &&
      !KNOWN_SETTINGS.some((known) => known === name),
  );
  return unknown.sort().map((name) => {
    const [nearest] = KNOWN_SETTINGS.toSorted((a, b) => editDistance(name, a) - editDistance(name, b));
    return `${name} is not a setting and has no effect; did you mean ${nearest}?`;
  });
}
