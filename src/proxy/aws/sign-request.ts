/**
 * Signs a call for AWS (Signature Version 4) with the operator's credentials, where its upstream has some. Whatever the
 * client signed or authenticated with is left out. The signature covers as little as AWS asks for, so that nothing on
 * the way breaks it: the host, every `x-amz-*` header, the path and query as they go out, and a digest of the body.
 */
import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { AwsKeys, AwsSigning } from '../../config.ts';
import { GatewayError } from '../../errors.ts';

/** Bodies are digested whole, so they are held up to this; AWS takes no larger ones for a model (25 MB). */
export const SIGNABLE_BODY_BYTES = 32 * 1024 * 1024;

/** Credentials and the parts of a signature: the client's own would contradict the ones made here. */
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

/** `header` in lower case, null for a parameter of the query: is that credential left out where the gateway signs? */
export function isReplacedBySigning(header: string | null): boolean {
  return header !== null && REPLACED.has(header);
}

export interface SignableRequest {
  readonly method: string;
  /** Path and query as they go out. */
  readonly path: string;
  /** Flat, without `Host`. */
  readonly headers: readonly string[];
  readonly body: Buffer | null;
}

/** The same path without the parameters of a client's signature; every other byte stays. */
export function withoutSignature(path: string): string {
  const mark = path.indexOf('?');
  if (mark === -1 || !/x-amz-/i.test(path)) return path;
  const kept = path
    .slice(mark + 1)
    .split('&')
    .filter((parameter) => !REPLACED_PARAMETER.test(parameter));
  return kept.length === 0 ? path.slice(0, mark) : `${path.slice(0, mark)}?${kept.join('&')}`;
}

/** The headers to send: the given ones in their order, less the client's credentials, then those of the signature. */
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
  // In native code, which a large body needs; the few short strings of the signature itself do not.
  signed['x-amz-content-sha256'] = createHash('sha256')
    .update(body ?? '')
    .digest('hex');

  // Loaded by the first call that needs them: a gateway that signs nothing goes without.
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

/** What is to be digested; a body that could not be held is refused, and what still comes of it is dropped. */
export function requireHeldBody(body: Buffer | Readable | null, receivedBytes: number): Buffer | null {
  if (body === null || Buffer.isBuffer(body)) return body;
  body.destroy();
  throw new GatewayError(receivedBytes > SIGNABLE_BODY_BYTES ? 'signing_body_too_large' : 'signing_busy');
}

/** Decoded, as the signer encodes them itself. A repeated name has several values. */
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
