/** Makes a local authority, bound to its names, and its certificates (RFC 5280). Writes no file. */
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign, X509Certificate } from 'node:crypto';
import { isIP, isIPv6 } from 'node:net';
import { AsnConvert, OctetString } from '@peculiar/asn1-schema';
import {
  AlgorithmIdentifier,
  AttributeTypeAndValue,
  AttributeValue,
  AuthorityKeyIdentifier,
  BasicConstraints,
  Certificate,
  ExtendedKeyUsage,
  Extension,
  Extensions,
  GeneralName,
  GeneralSubtree,
  GeneralSubtrees,
  id_ce_authorityKeyIdentifier,
  id_ce_basicConstraints,
  id_ce_extKeyUsage,
  id_ce_keyUsage,
  id_ce_nameConstraints,
  id_ce_subjectAltName,
  id_ce_subjectKeyIdentifier,
  id_kp_serverAuth,
  KeyUsage,
  KeyUsageFlags,
  Name,
  NameConstraints,
  RelativeDistinguishedName,
  SubjectAlternativeName,
  SubjectKeyIdentifier,
  SubjectPublicKeyInfo,
  TBSCertificate,
  Validity,
  Version,
} from '@peculiar/asn1-x509';

const COMMON_NAME = '2.5.4.3';
const ECDSA_WITH_SHA256 = '1.2.840.10045.4.3.2';
const AUTHORITY_DAYS = 3_650;
/** The longest of public authorities; some clients accept no more. */
const SERVER_DAYS = 397;
const DAY_MS = 24 * 60 * 60_000;
/** For clients with a slow clock. */
const LEEWAY_MS = 60 * 60_000;
const SERIAL_BYTES = 16;
const KEY_ID_BYTES = 20;
const LOOPBACK = ['127.0.0.0/8', '::1/128'];

export interface CertificateAndKey {
  readonly cert: string;
  readonly key: string;
}

export interface Authority {
  readonly cert: X509Certificate;
  readonly key: KeyObject;
}

interface Wanted {
  readonly subject: string;
  readonly days: number;
  readonly extensions: readonly Extension[];
  /** Null for a self-signed certificate. */
  readonly authority: Authority | null;
}

/** `names`: hosts and addresses; all loopback addresses are always included. */
export function makeAuthority(names: readonly string[]): CertificateAndKey {
  const ranges = names.filter((name) => isIP(name) !== 0 && !isLoopback(name)).map(toRange);
  const hosts = names.filter((name) => isIP(name) === 0).map((name) => name.replace(/^\*\./, ''));
  const permitted = [
    ...hosts.map((dNSName) => new GeneralName({ dNSName })),
    ...[...LOOPBACK, ...ranges].map((iPAddress) => new GeneralName({ iPAddress })),
  ].map((base) => new GeneralSubtree({ base }));
  const constraints = new NameConstraints({ permittedSubtrees: new GeneralSubtrees(permitted) });
  return issue({
    // Clients tell authorities in one file apart by name.
    subject: `Tollgate local authority ${randomBytes(4).toString('hex')}`,
    days: AUTHORITY_DAYS,
    authority: null,
    extensions: [
      extend(id_ce_basicConstraints, new BasicConstraints({ cA: true, pathLenConstraint: 0 }), true),
      extend(id_ce_keyUsage, new KeyUsage(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign), true),
      extend(id_ce_nameConstraints, constraints, true),
    ],
  });
}

function isLoopback(address: string): boolean {
  return address.startsWith('127.') || address === '::1';
}

function toRange(address: string): string {
  return `${address}/${isIPv6(address) ? 128 : 32}`;
}

export function issueServerCertificate(authority: Authority, names: readonly string[]): CertificateAndKey {
  const [subject = ''] = names;
  const alternatives = names.map((name) => new GeneralName(isIP(name) === 0 ? { dNSName: name } : { iPAddress: name }));
  return issue({
    subject,
    days: SERVER_DAYS,
    authority,
    extensions: [
      extend(id_ce_basicConstraints, new BasicConstraints({ cA: false }), true),
      extend(id_ce_keyUsage, new KeyUsage(KeyUsageFlags.digitalSignature), true),
      extend(id_ce_extKeyUsage, new ExtendedKeyUsage([id_kp_serverAuth])),
      extend(id_ce_subjectAltName, new SubjectAlternativeName(alternatives)),
    ],
  });
}

export function listForbidden({ cert }: Authority, names: readonly string[]): readonly string[] {
  const { tbsCertificate } = AsnConvert.parse(cert.raw, Certificate);
  const value = tbsCertificate.extensions?.find(({ extnID }) => extnID === id_ce_nameConstraints)?.extnValue;
  if (value === undefined) return [];
  const permitted = (AsnConvert.parse(value.buffer, NameConstraints).permittedSubtrees ?? []).map(({ base }) => base);
  const hosts = permitted.flatMap(({ dNSName }) => dNSName ?? []);
  const ranges = permitted.flatMap(({ iPAddress }) => iPAddress ?? []);
  return names.filter((name) =>
    isIP(name) === 0
      ? !hosts.some((host) => name === host || name.endsWith(`.${host}`))
      : !isLoopback(name) && !ranges.includes(toRange(name)),
  );
}

function issue({ subject, days, extensions, authority }: Wanted): CertificateAndKey {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const keyId = idOf(publicKey);
  const issuerId = authority === null ? keyId : idOf(authority.cert.publicKey);
  const name = nameOf(subject);
  const nowMs = Date.now();
  const signature = new AlgorithmIdentifier({ algorithm: ECDSA_WITH_SHA256 });
  const serial = randomBytes(SERIAL_BYTES);
  // A serial number is positive and keeps its length.
  serial[0] = ((serial[0] ?? 0) & 0x3f) | 0x40;
  const tbsCertificate = new TBSCertificate({
    version: Version.v3,
    serialNumber: toArrayBuffer(serial),
    signature,
    issuer: authority === null ? name : AsnConvert.parse(authority.cert.raw, Certificate).tbsCertificate.subject,
    validity: new Validity({ notBefore: new Date(nowMs - LEEWAY_MS), notAfter: new Date(nowMs + days * DAY_MS) }),
    subject: name,
    subjectPublicKeyInfo: AsnConvert.parse(publicKey.export({ type: 'spki', format: 'der' }), SubjectPublicKeyInfo),
    extensions: new Extensions([
      ...extensions,
      extend(id_ce_subjectKeyIdentifier, new SubjectKeyIdentifier(keyId)),
      extend(
        id_ce_authorityKeyIdentifier,
        new AuthorityKeyIdentifier({ keyIdentifier: new SubjectKeyIdentifier(issuerId) }),
      ),
    ]),
  });
  const signed = sign('sha256', Buffer.from(AsnConvert.serialize(tbsCertificate)), authority?.key ?? privateKey);
  const certificate = new Certificate({
    tbsCertificate,
    signatureAlgorithm: signature,
    signatureValue: toArrayBuffer(signed),
  });
  return {
    cert: new X509Certificate(Buffer.from(AsnConvert.serialize(certificate))).toString(),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

function nameOf(commonName: string): Name {
  const value = new AttributeValue({ utf8String: commonName });
  return new Name([new RelativeDistinguishedName([new AttributeTypeAndValue({ type: COMMON_NAME, value })])]);
}

function extend(extnID: string, value: object, critical = false): Extension {
  return new Extension({ extnID, critical, extnValue: new OctetString(AsnConvert.serialize(value)) });
}

function idOf(publicKey: KeyObject): ArrayBuffer {
  const digest = createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest();
  return toArrayBuffer(digest.subarray(0, KEY_ID_BYTES));
}

function toArrayBuffer(bytes: Buffer): ArrayBuffer {
  return new Uint8Array(bytes).buffer;
}
