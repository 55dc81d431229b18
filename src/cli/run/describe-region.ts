/** An AWS signature tells the gateway a region, an API key of Amazon Bedrock does not: calls with one would leave theirs. Pure. */
import { PROVIDERS } from '../../providers/registry.ts';
import type { Environment } from '../../vocabulary/config.ts';
import type { BaseVariables } from './base-variables.ts';

/** For the user, before the start; null where no call is moved. */
export function describeRegion(env: Environment, { set }: BaseVariables): string | null {
  const region = env['AWS_REGION'] || env['AWS_DEFAULT_REGION'] || null;
  for (const { credential, baseVariables, defaultRegion, displayName } of Object.values(PROVIDERS)) {
    if (defaultRegion === null || region === null || region === defaultRegion) continue;
    const isLed = baseVariables.some(({ name }) => set[name] !== undefined && (env[name] ?? '') === '');
    if (isLed && (env[credential.variable] ?? '') !== '')
      return `calls of ${displayName} with an API key go to the gateway's own region for them (${defaultRegion} unless it is set otherwise), whatever AWS_REGION says; boto3's go to ${region}. --alias names an upstream in that region`;
  }
  return null;
}
