/** Finds misspelt settings in the environment. */
import { PROVIDER_NAMES } from '../../vocabulary/call-record.ts';
import type { Environment } from '../../vocabulary/config.ts';
import { SECRET_SETTINGS } from '../../vocabulary/secret-settings.ts';
import { NAMED_SETTINGS } from './list-settings.ts';
import { AWS_FIELDS, isAwsSetting } from './read-aws-settings.ts';
import { isLeadingSetting } from './read-leading.ts';
import { isUpstreamSetting } from './read-upstreams.ts';

const KNOWN_SETTINGS = [
  ...NAMED_SETTINGS.map(([variable]) => variable).filter((variable) => variable.startsWith('TOLLGATE_')),
  ...SECRET_SETTINGS.map((name) => `${name}_FILE`),
  'TOLLGATE_ADMIN_URL',
  'TOLLGATE_ACCOUNT',
  // The banner's `curl` line calls the key this.
  'TOLLGATE_KEY',
  ...PROVIDER_NAMES.map((name) => `TOLLGATE_UPSTREAM_${name.toUpperCase()}`),
  ...AWS_FIELDS.map((field) => `TOLLGATE_AWS_BEDROCK_${field}`),
  ...PROVIDER_NAMES.flatMap((name) => [
    `TOLLGATE_REDIRECTS_${name.toUpperCase()}`,
    `TOLLGATE_ADDRESSES_${name.toUpperCase()}`,
  ]),
];

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

/** One line for each unknown `TOLLGATE_*` variable, with the nearest known name. */
export function listUnknownSettings(env: Environment): string[] {
  const unknown = Object.keys(env).filter(
    (name) =>
      name.startsWith('TOLLGATE_') &&
      !isUpstreamSetting(name) &&
      !isAwsSetting(name) &&
      !isLeadingSetting(name) &&
      !KNOWN_SETTINGS.includes(name),
  );
  return unknown.sort().map((name) => {
    const [nearest] = KNOWN_SETTINGS.toSorted((a, b) => editDistance(name, a) - editDistance(name, b));
    return `${name} is not a setting and has no effect; did you mean ${nearest}?`;
  });
}
