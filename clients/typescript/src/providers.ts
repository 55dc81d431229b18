/**
 * Which hosts are led to the gateway. Exact names only: the gateway sends a call to a provider's one address, so a call
 * to another region of it (`eu.api.openai.com`) would change its place, and stays as it is.
 */

export const HOSTS: Readonly<Record<string, string>> = Object.freeze({
  'api.openai.com': 'openai',
  'api.anthropic.com': 'anthropic',
  'generativelanguage.googleapis.com': 'gemini',
  'api.together.ai': 'together',
  'api.together.xyz': 'together',
  'api.fireworks.ai': 'fireworks',
  'api.deepseek.com': 'deepseek',
});

/** What a provider's own SDK takes as its base address: OpenAI's has the version in it. */
export const BASE_PATHS: Readonly<Record<string, string>> = Object.freeze({
  openai: '/v1',
  anthropic: '',
  gemini: '',
  bedrock: '',
  together: '',
  fireworks: '',
  deepseek: '',
});

const REGION =
  '[a-z]{2}(?:sc)?(?:-gov|-iso[a-z]?|-de)?-(?:central|north|south|east|west|(?:north|south)(?:east|west))-\\d';
const BEDROCK = new RegExp(`^bedrock-runtime\\.${REGION}\\.(?:amazonaws\\.com(?:\\.cn)?|api\\.aws)$`);
/** The gateway reaches these under their own names only where a signature names the service. */
const SIGNED_ONLY: readonly (readonly [RegExp, string])[] = [
  [new RegExp(`^bedrock-runtime-fips\\.${REGION}\\.(?:amazonaws\\.com|api\\.aws)$`), 'bedrock'],
  [new RegExp(`^bedrock-mantle\\.${REGION}\\.api\\.aws$`), 'bedrock'],
  [new RegExp(`^aws-external-anthropic\\.${REGION}\\.api\\.aws$`), 'anthropic'],
];

/** `host` in lower case. `isSigned`: the request carries an AWS signature. */
export function readProviderOfHost(host: string, isSigned: boolean): string | null {
  if (Object.hasOwn(HOSTS, host)) return HOSTS[host] ?? null;
  if (BEDROCK.test(host)) return 'bedrock';
  return (isSigned && SIGNED_ONLY.find(([pattern]) => pattern.test(host))?.[1]) || null;
}

/** An AWS host stays in the `Host` header: the signature covers it, and it tells the region where none is. */
export function isAwsHost(host: string): boolean {
  return !Object.hasOwn(HOSTS, host);
}

/** What an SDK reports about itself to the provider, in the background: no call of a model, and of no run. */
export function isReport(provider: string, target: string): boolean {
  return provider === 'openai' && target.startsWith('/v1/traces');
}
