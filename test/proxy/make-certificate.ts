/** A certificate that nobody vouches for, made by openssl. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface CertificateOptions {
  /** As openssl writes them; `localhost` by default, and none when it is empty. */
  readonly names?: string;
  /** It ended yesterday. */
  readonly hasExpired?: true;
  /** It begins in a hundred years. */
  readonly isEarly?: true;
  /** prime256v1 by default. */
  readonly curve?: string;
}

export interface CertificatePair {
  readonly key: string;
  readonly cert: string;
}

export function makeCertificate(options: CertificateOptions = {}): CertificatePair {
  const { names = 'DNS:localhost', hasExpired, isEarly, curve = 'prime256v1' } = options;
  const dir = mkdtempSync(join(tmpdir(), 'tollgate-certificate-'));
  const [key, cert] = [join(dir, 'key.pem'), join(dir, 'cert.pem')];
  const openssl = (...command: string[]) => execFileSync('openssl', command, { stdio: 'ignore' });
  const subject = ['-subj', '/CN=localhost', ...(names === '' ? [] : ['-addext', `subjectAltName=${names}`])];
  const newKey = ['-newkey', 'ec', '-pkeyopt', `ec_paramgen_curve:${curve}`];
  openssl('req', '-x509', ...newKey, '-nodes', '-days', '2', '-keyout', key, '-out', cert, ...subject);
  // Only this command takes a number of days below 0.
  if (hasExpired) openssl('x509', '-in', cert, '-signkey', key, '-days', '-1', '-out', cert);
  if (isEarly) signByDates(dir, { key, cert, names }, ['-startdate', '21260101000000Z', '-enddate', '21270101000000Z']);
  const made = { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
  rmSync(dir, { recursive: true });
  return made;
}

/** Of all commands only `ca` takes dates, and it wants files of its own. */
function signByDates(
  dir: string,
  { key, cert, names }: CertificatePair & { readonly names: string },
  dates: readonly string[],
): void {
  const [config, index, request] = [join(dir, 'ca.cnf'), join(dir, 'index.txt'), join(dir, 'request.pem')];
  writeFileSync(index, '');
  writeFileSync(
    config,
    `[ca]
default_ca=own
[own]
database=${index}
new_certs_dir=${dir}
default_md=sha256
policy=any
rand_serial=yes
x509_extensions=names
[any]
commonName=supplied
[names]
subjectAltName=${names}
`,
  );
  const openssl = (...command: string[]) => execFileSync('openssl', command, { stdio: 'ignore' });
  openssl('req', '-new', '-key', key, '-out', request, '-subj', '/CN=localhost');
  const selfSigned = ['-selfsign', '-keyfile', key, '-in', request, '-out', cert, '-notext'];
  openssl('ca', '-batch', '-config', config, ...selfSigned, ...dates);
}
