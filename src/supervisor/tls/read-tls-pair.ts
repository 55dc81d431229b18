/** Reads a certificate and its key and says what is wrong with them, but not whether clients trust them. */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { open } from 'node:fs/promises';
import { isIPv6 } from 'node:net';
import { createSecureContext } from 'node:tls';
import type { CertificateStatus } from '../../vocabulary/channel.ts';
import type { TlsFiles } from '../../vocabulary/config.ts';
import { messageOf, OperatorError } from '../../vocabulary/errors.ts';
import { tryHandshake } from './try-handshake.ts';

const MAX_PEM_BYTES = 1024 * 1024;
/** Windows editors write it; OpenSSL skips the line that holds it. */
const BYTE_ORDER_MARK = /^\xef\xbb\xbf/;
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

export interface TlsTexts {
  readonly cert: string;
  readonly key: string;
}

export type TlsPair = TlsTexts & Omit<CertificateStatus, 'problem'>;

export async function readTlsTexts(files: TlsFiles): Promise<TlsTexts> {
  const cert = await readPem('TOLLGATE_TLS_CERT', files.cert);
  return { cert, key: await readPem('TOLLGATE_TLS_KEY', files.key) };
}

async function readPem(setting: string, path: string): Promise<string> {
  const shown = JSON.stringify(path);
  let text: string;
  try {
    await using file = await open(path);
    const { size } = await file.stat();
    if (size > MAX_PEM_BYTES) throw new Error(`${shown} has more than 1 MiB`);
    text = (await file.readFile('latin1')).replace(BYTE_ORDER_MARK, '');
  } catch (cause) {
    throw new OperatorError(`${setting}: cannot read the file: ${messageOf(cause)}`, { cause });
  }
  if (!text.includes('-----BEGIN ')) throw new OperatorError(`${setting}: ${shown} is not in PEM (-----BEGIN …)`);
  return text;
}

/** Rejects with an OperatorError when no server could use the pair. */
export async function parseTlsPair(files: TlsFiles, { cert, key }: TlsTexts): Promise<TlsPair> {
  const chain = (cert.match(CERTIFICATE) ?? []).map((text) => readCertificate(files, text));
  const [own] = chain;
  const certFile = `TOLLGATE_TLS_CERT: ${JSON.stringify(files.cert)}`;
  if (own === undefined) throw new OperatorError(`${certFile} holds no whole certificate`);
  const privateKey = readKey(files, key);
  if (!own.checkPrivateKey(privateKey)) {
    const isElsewhere = chain.some((certificate) => certificate.checkPrivateKey(privateKey));
    throw new OperatorError(
      isElsewhere
        ? `${certFile} must begin with the server's own certificate; the one that the key fits comes later in it`
        : `TOLLGATE_TLS_KEY: the key in ${JSON.stringify(files.key)} does not fit the certificate in ${JSON.stringify(files.cert)}`,
    );
  }
  try {
    await tryHandshake(createSecureContext({ cert, key }));
  } catch (cause) {
    throw new OperatorError(`${certFile} and its key cannot be used: ${messageOf(cause)}`, { cause });
  }
  return {
    cert,
    key,
    names: listNames(own),
    validFromMs: own.validFromDate.getTime(),
    validToMs: own.validToDate.getTime(),
  };
}

function readCertificate(files: TlsFiles, text: string): X509Certificate {
  try {
    return new X509Certificate(text);
  } catch (cause) {
    const shown = JSON.stringify(files.cert);
    throw new OperatorError(`TOLLGATE_TLS_CERT: a certificate in ${shown} is damaged: ${messageOf(cause)}`, { cause });
  }
}

function readKey(files: TlsFiles, text: string): KeyObject {
  const shown = JSON.stringify(files.key);
  if (/-----BEGIN ENCRYPTED |^Proc-Type: 4,ENCRYPTED/m.test(text))
    throw new OperatorError(
      `TOLLGATE_TLS_KEY: the key in ${shown} has a passphrase, and nobody is there to type it in: take it out (openssl pkey -in KEY -out NEW-KEY) and let the file's mode protect the key`,
    );
  try {
    return createPrivateKey(text);
  } catch (cause) {
    throw new OperatorError(`TOLLGATE_TLS_KEY: ${shown} holds no whole private key in PEM`, { cause });
  }
}

/** Host names and addresses, IPv6 without brackets. */
function listNames({ subjectAltName = '' }: X509Certificate): readonly string[] {
  return subjectAltName.split(', ').flatMap((entry) => {
    const [, kind, name = ''] = /^(DNS|IP Address):([^"]+)$/.exec(entry) ?? [];
    if (kind === undefined) return [];
    return [isIPv6(name) ? new URL(`http://[${name}]`).hostname.slice(1, -1) : name];
  });
}

export function judgeCertificate(
  { names, validFromMs, validToMs }: Omit<CertificateStatus, 'problem'>,
  nowMs: number,
): string | null {
  if (names.length === 0) return 'the certificate is valid for no host (it has no subjectAltName)';
  if (validFromMs > nowMs) return `the certificate is not valid before ${new Date(validFromMs).toISOString()}`;
  if (validToMs <= nowMs) return `the certificate has expired on ${new Date(validToMs).toISOString()}`;
  return null;
}
