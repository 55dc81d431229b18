/** Reads service and region from an AWS host name. Patterns are strict, since a client's `Host` is untrusted. */

export interface AwsHost {
  /** In lower case, without a port. */
  readonly name: string;
  /** As it stands in a signature's scope. */
  readonly service: 'bedrock' | 'bedrock-mantle' | 'aws-external-anthropic';
  readonly region: string;
  /** False for a private endpoint, whose name resolves to whatever its owner chose. */
  readonly isPublic: boolean;
}

const REGION =
  '[a-z]{2}(?:sc)?(?:-gov|-iso[a-z]?|-de)?-(?:central|north|south|east|west|(?:north|south)(?:east|west))-\\d';

const REGION_NAME = new RegExp(`^${REGION}$`);

/** Source: the endpoint rules of the AWS SDK's Bedrock client and of Anthropic's clients for AWS. */
const HOSTS: readonly (readonly [AwsHost['service'], RegExp])[] = [
  [
    'bedrock',
    new RegExp(
      `^(?:bedrock-runtime(?:-fips)?\\.(${REGION})\\.(?:amazonaws\\.com(?:\\.cn)?|api\\.aws|api\\.amazonwebservices\\.com\\.cn))$`,
    ),
  ],
  ['bedrock-mantle', new RegExp(`^bedrock-mantle\\.(${REGION})\\.api\\.aws$`)],
  ['aws-external-anthropic', new RegExp(`^aws-external-anthropic\\.(${REGION})\\.api\\.aws$`)],
];

const PRIVATE_HOST = new RegExp(
  `^vpce-[a-z\\d-]{1,63}\\.bedrock-(runtime|runtime-fips|mantle)\\.(${REGION})\\.vpce\\.amazonaws\\.com(?:\\.cn)?$`,
);

/** Nearly all hosts are others, and this is asked of most calls. */
const MAY_BE_AWS = /aws|amazon/i;

export function isAwsRegion(text: string): boolean {
  return REGION_NAME.test(text);
}

/** `host` may be in any case and carry port 443; null when it is not an AWS host that serves models. */
export function readAwsHost(host: string): AwsHost | null {
  if (!MAY_BE_AWS.test(host)) return null;
  const name = host.toLowerCase().replace(/:443$/, '');
  for (const [service, pattern] of HOSTS) {
    const region = pattern.exec(name)?.[1];
    if (region !== undefined) return { name, service, region, isPublic: true };
  }
  const [, kind, region] = PRIVATE_HOST.exec(name) ?? [];
  if (region === undefined) return null;
  return { name, service: kind === 'mantle' ? 'bedrock-mantle' : 'bedrock', region, isPublic: false };
}

export function runtimeHost(region: string): string {
  return `bedrock-runtime.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;
}

export function runtimeHostOf(region: string): AwsHost {
  return { name: runtimeHost(region), service: 'bedrock', region, isPublic: true };
}
