/**
 * Checks an AWS signature (version 4) the way AWS does, from what arrived and the secret: a second implementation,
 * written from "Create a signed AWS API request" (AWS IAM user guide), that shares nothing with what signs.
 */
import { createHash, createHmac } from 'node:crypto';

export interface ArrivedRequest {
  readonly method: string;
  /** Path and query as they arrived. */
  readonly target: string;
  /** Flat: name, value, … */
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
}

export interface CheckedSignature {
  readonly isValid: boolean;
  readonly accessKeyId: string;
  readonly region: string;
  readonly service: string;
  readonly signedHeaders: readonly string[];
}

function sha256(data: Buffer | string): string {
  return createHash('sha256').update(data).digest('hex');
}

function hmac(key: Buffer | string, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

function encode(text: string): string {
  let encoded = '';
  for (const byte of Buffer.from(text)) {
    const character = String.fromCharCode(byte);
    encoded += /[A-Za-z0-9\-._~]/.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }
  return encoded;
}

function readHeaders(raw: readonly string[]): Map<string, string[]> {
  const headers = new Map<string, string[]>();
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = (raw[index] ?? '').toLowerCase();
    headers.set(name, [...(headers.get(name) ?? []), (raw[index + 1] ?? '').trim().replace(/ +/g, ' ')]);
  }
  return headers;
}

function canonicalQuery(query: string): string {
  const pairs = query
    .split('&')
    .filter((parameter) => parameter !== '')
    .map((parameter) => {
      const [name = '', ...value] = parameter.split('=');
      return [encode(decodeURIComponent(name)), encode(decodeURIComponent(value.join('=')))] as const;
    })
    .sort(([nameA, valueA], [nameB, valueB]) => (nameA < nameB ? -1 : nameA > nameB ? 1 : valueA < valueB ? -1 : 1));
  return pairs.map(([name, value]) => `${name}=${value}`).join('&');
}

const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request, SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/;

/** Throws where AWS would find the request incomplete: no signature, host or a sent `x-amz-*` not covered, another body. */
export function checkSignature(request: ArrivedRequest, secretAccessKey: string): CheckedSignature {
  const headers = readHeaders(request.rawHeaders);
  const [authorization = '', ...more] = headers.get('authorization') ?? [];
  const [, accessKeyId = '', day = '', region = '', service = '', names = '', signature] =
    AUTHORIZATION.exec(authorization) ?? [];
  if (signature === undefined || more.length > 0) throw new Error('no signature, or several');
  const signedHeaders = names.split(';');
  const needed = [...headers.keys()].filter((name) => name === 'host' || name.startsWith('x-amz-'));
  const uncovered = needed.filter((name) => !signedHeaders.includes(name));
  if (uncovered.length > 0 || !needed.includes('host')) throw new Error(`not covered: ${uncovered.join(', ')}`);
  const [bodyHash = sha256(request.body)] = headers.get('x-amz-content-sha256') ?? [];
  if (bodyHash !== sha256(request.body)) throw new Error('the digest is that of another body');
  const [date = ''] = headers.get('x-amz-date') ?? [];
  if (!date.startsWith(day)) throw new Error('another day');

  const [path = '', query = ''] = request.target.split('?');
  const canonical = [
    request.method,
    path.split('/').map(encode).join('/'),
    canonicalQuery(query),
    ...signedHeaders.map((name) => `${name}:${(headers.get(name) ?? []).join(',')}`),
    '',
    names,
    bodyHash,
  ].join('\n');
  const scope = `${day}/${region}/${service}/aws4_request`;
  const text = ['AWS4-HMAC-SHA256', date, scope, sha256(canonical)].join('\n');
  const key = hmac(hmac(hmac(hmac(`AWS4${secretAccessKey}`, day), region), service), 'aws4_request');
  const isValid = hmac(key, text).toString('hex') === signature;
  return { isValid, accessKeyId, region, service, signedHeaders };
}
