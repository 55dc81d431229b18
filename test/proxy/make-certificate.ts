/** A certificate that nobody vouches for, made by openssl. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface CertificateOptions {
  /** As openssl writes them; `localhost` by default, and none when it is empty. */
  readonly names?: string;
  /** It ended yesterday. */
  readonly hasExpired?: true;
}

export interface CertificatePair {
  readonly key: string;
  readonly cert: string;
}

export function makeCertificate({ names = 'DNS:localhost', hasExpired }: CertificateOptions = {}): CertificatePair {
  const dir = mkdtempSync(join(tmpdir(), 'tollgate-certificate-'));
  const [key, cert] = [join(dir, 'key.pem'), join(dir, 'cert.pem')];
  const openssl = (...command: string[]) => execFileSync('openssl', command, { stdio: 'ignore' });
  const subject = ['-subj', '/CN=localhost', ...(names === '' ? [] : ['-addext', `subjectAltName=${names}`])];
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'];
  openssl('req', '-x509', ...curve, '-nodes', '-days', '2', '-keyout', key, '-out', cert, ...subject);
  // Only this command takes a number of days below 0.
  if (hasExpired) openssl('x509', '-in', cert, '-signkey', key, '-days', '-1', '-out', cert);
  const made = { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
  rmSync(dir, { recursive: true });
  return made;
}
