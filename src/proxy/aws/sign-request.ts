/**
 * Signs a call for AWS (Signature Version 4), covering the least AWS asks for, so that nothing on the way breaks it.
 */
import { createHash } from 'node:crypto';
import type { AwsKeys, AwsSigning } from '../../vocabulary/config.ts';

/** The client's own would contradict these. */
const REPLACED: ReadonlySet<string> = new Set([
  'authorization',
  'x-api-key',
  'x-amz-date',
  'x-amz-content-sha256',
  'x-amz-security-token',
  'x-amz-region-set',
]);

const REPLACED_PARAMETER =
  /^x-amz-(?:algorithm|credential|date|expires|signedheaders|signature|security-token|region-set)=/i;

/** `header` in lower case; null for a query parameter. */
export function isReplacedBySigning(header: string | null): boolean {
  return header !== null && REPLACED.has(header);
}

export interface SignableRequest {
  readonly method: string;
  /** Path and query as sent. */
  readonly path: string;
  readonly headers: readonly string[];
  readonly body: Buffer | null;
}

/** Removes a client's signature parameters from a path; every other byte stays. */
export function withoutSignature(path: string): string {
  const mark = path.indexOf('?');
  if (mark === -1 || !/x-amz-/i.test(path)) return path;
  const kept = path
    .slice(mark + 1)
    .split('&')
    .filter((parameter) => !REPLACED_PARAMETER.test(parameter));
  return kept.length === 0 ? path.slice(0, mark) : `${path.slice(0, mark)}?${kept.join('&')}`;
}

/** Returns the given headers in order without the client's credentials, then the signature's. */
export async function signRequest(
  request: SignableRequest,
  signing: AwsSigning,
  keys: AwsKeys,
  signedAt: Date,
): Promise<string[]> {
  const { method, body } = request;
  const sent: string[] = [];
  const signed: Record<string, string> = { host: signing.host };
  for (let index = 0; index + 1 < request.headers.length; index += 2) {
    const name = request.headers[index] ?? '';
    const value = request.headers[index + 1] ?? '';
    const lower = name.toLowerCase();
    if (REPLACED.has(lower)) continue;
    sent.push(name, value);
    if (!lower.startsWith('x-amz-')) continue;
    const before = signed[lower];
    signed[lower] = before === undefined ? value : `${before},${value}`;
  }
  // Native code for large bodies; the signer's own digests are of short strings.
  signed['x-amz-content-sha256'] = createHash('sha256')
    .update(body ?? '')
    .digest('hex');

  // Loaded on first use, since most gateways sign nothing.
  const [{ SignatureV4 }, { Sha256 }] = await Promise.all([
    import('@smithy/signature-v4'),
    import('@aws-crypto/sha256-js'),
  ]);
  const signer = new SignatureV4({
    service: signing.service,
    region: signing.region,
    credentials: {
      accessKeyId: keys.accessKeyId,
      secretAccessKey: keys.secretAccessKey,
      ...(keys.sessionToken === null ? {} : { sessionToken: keys.sessionToken }),
    },
    sha256: Sha256,
  });
  const [path = '', query = ''] = splitOnce(request.path, '?');
  const { headers } = await signer.sign(
    { method, protocol: 'https:', hostname: signing.host, path, query: readQuery(query), headers: signed },
    { signingDate: signedAt },
  );
  for (const name of ['x-amz-date', 'x-amz-content-sha256', 'x-amz-security-token', 'authorization']) {
    const value = headers[name];
    if (value !== undefined) sent.push(name, value);
  }
  return sent;
}

/** Decoded, because the signer encodes them itself. */
function readQuery(query: string): Record<string, string[]> {
  const parameters = new Map<string, string[]>();
  for (const parameter of query.split('&')) {
    if (parameter === '') continue;
    const [name = '', value = ''] = splitOnce(parameter, '=').map(decode);
    parameters.set(name, [...(parameters.get(name) ?? []), value]);
  }
  return Object.fromEntries(parameters);
}

function splitOnce(text: string, separator: string): string[] {
  const at = text.indexOf(separator);
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
