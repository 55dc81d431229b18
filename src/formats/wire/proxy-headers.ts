/** Headers in which a proxy describes its client. A trusted proxy's end here; they are not the client's words. */

const TOLD: ReadonlySet<string> = new Set([
  'forwarded',
  'via',
  'x-real-ip',
  'x-client-ip',
  'x-cluster-client-ip',
  'true-client-ip',
  'x-original-forwarded-for',
  'x-original-host',
  'x-envoy-external-address',
  'x-azure-clientip',
  'x-azure-socketip',
  'cf-connecting-ip',
  'cf-connecting-ipv6',
  'fastly-client-ip',
]);
/** `-For`, `-Proto`, `-Host`, `-Port`, `-Server`, `-Prefix`, …; an ALB's account of its client's TLS. */
const PREFIXES = ['x-forwarded-', 'x-amzn-mtls-', 'x-amzn-tls-'] as const;

/** `name` in lower case. */
export function isToldByProxy(name: string): boolean {
  return TOLD.has(name) || PREFIXES.some((prefix) => name.startsWith(prefix));
}
