/** A certificate that nobody vouches for, made by openssl. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface CertificateOptions {
  /** As openssl writes them; `localhost` by default. */
  readonly names?: string;
  /** From now; with 0 it has just ended. */
  readonly days?: number;
}

export function makeCertificate({ names = 'DNS:localhost', days = 2 }: CertificateOptions = {}): {
  readonly key: string;
  readonly cert: string;
} {
  const dir = mkdtempSync(join(tmpdir(), 'tollgate-certificate-'));
  const [key, cert] = [join(dir, 'key.pem'), join(dir, 'cert.pem')];
  const subject = ['-subj', '/CN=localhost', ...(names === '' ? [] : ['-addext', `subjectAltName=${names}`])];
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'];
  const command = ['req', '-x509', ...curve, '-nodes', '-days', String(days), '-keyout', key, '-out', cert, ...subject];
  execFileSync('openssl', command, { stdio: 'ignore' });
  const made = { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
  rmSync(dir, { recursive: true });
  return made;
}
