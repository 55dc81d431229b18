/**
 * Reads a certificate and its key from their files, and says in one line what is wrong with them. It judges what a
 * server can do with the pair; whether clients trust it is theirs to say.
 */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { open } from 'node:fs/promises';
import { isIPv6 } from 'node:net';
import { createSecureContext } from 'node:tls';
import type { CertificateStatus } from '../../channel.ts';
import type { TlsFiles } from '../../config.ts';
import { OperatorError } from '../../errors.ts';
import { tryHandshake } from './try-handshake.ts';

/** Of one file; a chain takes some kilobytes. */
const MAX_PEM_BYTES = 1024 * 1024;
/** What editors on Windows write in front of a text, read byte by byte; OpenSSL passes over the line that it stands in. */
const BYTE_ORDER_MARK = /^\xef\xbb\xbf/;
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

export interface TlsTexts {
  readonly cert: string;
  readonly key: string;
}

export type TlsPair = TlsTexts & Omit<CertificateStatus, 'problem'>;

/** As they are at this moment; throws an OperatorError. */
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
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new OperatorError(`${setting}: cannot read the file: ${why}`, { cause });
  }
  if (!text.includes('-----BEGIN ')) throw new OperatorError(`${setting}: ${shown} is not in PEM (-----BEGIN …)`);
  return text;
}

/** Rejects with an OperatorError where no server could use the pair. */
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
    throw new OperatorError(`${certFile} and its key cannot be used: ${sayWhy(cause)}`, { cause });
  }
  return {
    ...{ cert, key, names: listNames(own) },
    ...{ validFromMs: own.validFromDate.getTime(), validToMs: own.validToDate.getTime() },
  };
}

function readCertificate(files: TlsFiles, text: string): X509Certificate {
  try {
    return new X509Certificate(text);
  } catch (cause) {
    const shown = JSON.stringify(files.cert);
    throw new OperatorError(`TOLLGATE_TLS_CERT: a certificate in ${shown} is damaged: ${sayWhy(cause)}`, { cause });
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

function sayWhy(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}

/** Host names and addresses, the latter as they are written in an address. */
function listNames({ subjectAltName = '' }: X509Certificate): readonly string[] {
  return subjectAltName.split(', ').flatMap((entry) => {
    const [, kind, name = ''] = /^(DNS|IP Address):([^"]+)$/.exec(entry) ?? [];
    if (kind === undefined) return [];
    return [isIPv6(name) ? new URL(`http://[${name}]`).hostname.slice(1, -1) : name];
  });
}

/** Why no client would accept it; null when some may. */
export function judgeCertificate(
  { names, validFromMs, validToMs }: Omit<CertificateStatus, 'problem'>,
  nowMs: number,
): string | null {
  if (names.length === 0) return 'the certificate is valid for no host (it has no subjectAltName)';
  if (validFromMs > nowMs) return `the certificate is not valid before ${new Date(validFromMs).toISOString()}`;
  if (validToMs <= nowMs) return `the certificate has expired on ${new Date(validToMs).toISOString()}`;
  return null;
}
