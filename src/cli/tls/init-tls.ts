/** The files of `tollgate tls init`: a local authority, which a renewal keeps, and its certificate. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { chownSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { isIP, isIPv6 } from 'node:net';
import { dirname, join } from 'node:path';
import { getCACertificates } from 'node:tls';
import { messageOf, OperatorError } from '../../vocabulary/errors.ts';
import { type Authority, issueServerCertificate, listForbidden, makeAuthority } from './issue-certificate.ts';

const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '::1'];
/** RFC 1123, with an optional wildcard label. */
const HOST = /^(?=.{1,253}$)(?:\*\.)?(?!-)[a-z\d-]{1,63}(?:\.(?!-)[a-z\d-]{1,63})*$/;

export interface TlsFilePaths {
  readonly authority: string;
  readonly authorityKey: string;
  readonly server: string;
  readonly serverKey: string;
  /** The public authorities and this one, for clients that trust a single file. */
  readonly trusted: string;
}

export interface MadeTls {
  readonly paths: TlsFilePaths;
  readonly names: readonly string[];
  readonly validTo: Date;
  readonly authorityValidTo: Date;
}

export interface InitOptions {
  readonly dir: string;
  readonly names: readonly string[];
  readonly renews: boolean;
}

export function initTls({ dir, names, renews }: InitOptions): MadeTls {
  const paths: TlsFilePaths = {
    authority: join(dir, 'authority.crt'),
    authorityKey: join(dir, 'authority.key'),
    server: join(dir, 'server.crt'),
    serverKey: join(dir, 'server.key'),
    trusted: join(dir, 'trusted.crt'),
  };
  const given = names.map(readName);
  const wanted = [...new Set([...LOOPBACK_NAMES, ...(renews && given.length === 0 ? readNames(paths.server) : given)])];
  if (renews) requireAuthority(paths, wanted);
  else refuseOverwriting(dir, paths);
  const owner = makeDir(dir);
  if (!renews) {
    const made = makeAuthority(wanted);
    writeFile(paths.authorityKey, made.key, 0o600);
    writeFile(paths.authority, made.cert, 0o644);
  }
  const authority = readAuthority(paths);
  const server = issueServerCertificate(authority, wanted);
  writeFile(paths.serverKey, server.key, 0o600);
  writeFile(paths.server, server.cert, 0o644);
  writeFile(paths.trusted, writeTrusted(authority), 0o644);
  // Root made them for a gateway that is not root and must read its key.
  if (owner !== null) for (const path of [dir, paths.server, paths.serverKey]) chownSync(path, owner.uid, owner.gid);
  const [validTo, authorityValidTo] = [new X509Certificate(server.cert), authority.cert].map(
    (cert) => cert.validToDate,
  );
  return { paths, names: wanted, validTo: validTo ?? new Date(0), authorityValidTo: authorityValidTo ?? new Date(0) };
}

/** In the spelling of certificates. */
function readName(given: string): string {
  const name = given
    .trim()
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1');
  if (isIPv6(name)) return new URL(`http://[${name}]`).hostname.slice(1, -1);
  if (isIP(name) !== 0 || (HOST.test(name) && !/^[\d.]+$/.test(name))) return name;
  throw new OperatorError(
    `--name: ${JSON.stringify(given)} is not allowed; it must be a host such as gateway.internal, or an IP address`,
  );
}

function readNames(path: string): readonly string[] {
  if (!existsSync(path)) return [];
  const { subjectAltName = '' } = new X509Certificate(readFileSync(path));
  return subjectAltName.split(', ').map((entry) => readName(entry.replace(/^(?:DNS|IP Address):/, '')));
}

function refuseOverwriting(dir: string, paths: TlsFilePaths): void {
  if (!Object.values(paths).some((path) => existsSync(path))) return;
  throw new OperatorError(
    `${dir} holds certificates already, and nothing was changed: --renew makes a new server certificate by the same authority; another --dir takes another authority`,
  );
}

function requireAuthority(paths: TlsFilePaths, names: readonly string[]): void {
  if (!existsSync(paths.authority) || !existsSync(paths.authorityKey))
    throw new OperatorError(
      `--renew: there is no ${paths.authority} with its key; \`tollgate tls init\` without --renew makes them`,
    );
  const authority = readAuthority(paths);
  const forbidden = listForbidden(authority, names);
  if (forbidden.length > 0)
    throw new OperatorError(
      `--name: the authority may not vouch for ${forbidden.join(', ')}, since it was made for other names; make another one in another --dir`,
    );
  if (authority.cert.validToDate.getTime() <= Date.now())
    throw new OperatorError(
      `the authority has expired on ${authority.cert.validToDate.toISOString().slice(0, 10)}; make another one in another --dir`,
    );
}

function readAuthority({ authority, authorityKey }: TlsFilePaths): Authority {
  try {
    const cert = new X509Certificate(readFileSync(authority));
    const key = createPrivateKey(readFileSync(authorityKey));
    if (cert.checkPrivateKey(key)) return { cert, key };
  } catch (cause) {
    throw new OperatorError(`the authority in ${dirname(authority)} cannot be read: ${messageOf(cause)}`, { cause });
  }
  throw new OperatorError(`the key in ${authorityKey} does not fit ${authority}`);
}

/** The owner of the parent folder where that is not root; null otherwise. */
function makeDir(dir: string): { uid: number; gid: number } | null {
  try {
    mkdirSync(dir, { recursive: true, mode: 0o755 });
    const { uid, gid } = statSync(dirname(dir));
    return process.getuid?.() === 0 && uid !== 0 ? { uid, gid } : null;
  } catch (cause) {
    throw new OperatorError(`--dir: ${dir} cannot be made: ${messageOf(cause)}`, { cause });
  }
}

/** The authorities of the system and of Node mostly overlap. */
function writeTrusted({ cert }: Authority): string {
  const texts = [...getCACertificates('system'), ...getCACertificates('bundled'), cert.toString()];
  return [...new Map(texts.map((text) => [text.replaceAll(/\s/g, ''), `${text.trim()}\n`])).values()].join('');
}

function writeFile(path: string, text: string, mode: number): void {
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    writeFileSync(temporary, text, { mode, flag: 'wx' });
    renameSync(temporary, path);
  } catch (cause) {
    rmSync(temporary, { force: true });
    throw new OperatorError(`cannot write ${path}: ${messageOf(cause)}`, { cause });
  }
}
