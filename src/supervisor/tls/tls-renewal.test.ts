/** Certificates as files: what is read of them at the start, and what comes into force when they change. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { makeCertificate } from '../../../test/proxy/make-certificate.ts';
import type { TlsIdentity } from '../../vocabulary/channel.ts';
import { openTlsRenewal, type TlsRenewal } from './tls-renewal.ts';

const OLD = makeCertificate({ names: 'DNS:localhost,DNS:*.example.com,IP:127.0.0.1,IP:::1' });
const NEW = makeCertificate({ names: 'DNS:new.example.com' });

let dir: string;
let files: { cert: string; key: string };
let aborter: AbortController;
let renewed: TlsIdentity[];
let said: string[];

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'tg-'));
  files = { cert: join(dir, 'tls.crt'), key: join(dir, 'tls.key') };
  aborter = new AbortController();
  renewed = [];
  said = [];
});
afterEach(() => {
  aborter.abort();
  rmSync(dir, { recursive: true });
});

function write({ cert, key }: { readonly cert: string; readonly key: string }): void {
  writeFileSync(files.cert, cert);
  writeFileSync(files.key, key);
}

function start(pollMs = 10): Promise<TlsRenewal> {
  // Those of this test: a look of the test before may still be under way.
  const [lines, identities] = [said, renewed];
  const log = pino({}, { write: (line: string) => void lines.push(JSON.parse(line).msg) });
  return openTlsRenewal({ files, onRenewed: (one) => identities.push(one), log, signal: aborter.signal, pollMs });
}

async function refusal(given: { readonly cert?: string; readonly key?: string }): Promise<string> {
  write({ ...OLD, ...given });
  return start().then(
    () => 'accepted',
    (error: Error) => error.message.replaceAll(dir, ''),
  );
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await sleep(5);
}

test('a pair is read with its names and its end', async () => {
  write(OLD);
  const status = (await start()).status();
  expect(status).toMatchObject({ names: ['localhost', '*.example.com', '127.0.0.1', '::1'], problem: null });
  expect(status.validToMs - status.validFromMs).toBe(2 * 86_400_000);
});

test('a byte order mark, line ends of Windows and text around it change nothing', async () => {
  const crlf = ({ cert, key }: typeof OLD) => ({ cert: cert.replace(/\n/g, '\r\n'), key: key.replace(/\n/g, '\r\n') });
  expect(await refusal(crlf(OLD))).toBe('accepted');
  expect(await refusal({ cert: `\ufeff${OLD.cert}${NEW.cert}`, key: `\ufeff${OLD.key}` })).toBe('accepted');
  expect((await start()).identity()).toMatchObject({ cert: OLD.cert + NEW.cert, key: OLD.key });
  expect(await refusal({ cert: `of localhost\n${OLD.cert}end\n` })).toBe('accepted');
});

test('a pair with which no client could shake hands is refused, although OpenSSL takes it', async () => {
  const oddCurve = makeCertificate({ curve: 'secp256k1' });
  const chain = makeCertificate({ curve: 'P-384' });
  expect([await refusal(oddCurve), await refusal({ cert: `x${OLD.cert}${chain.cert}` })]).toEqual([
    'TOLLGATE_TLS_CERT: "/tls.crt" and its key cannot be used: no suitable signature algorithm',
    expect.stringMatching(/^TOLLGATE_TLS_CERT: "\/tls.crt" and its key cannot be used: \S[^\n]+$/),
  ]);
});

test('what cannot be used is refused in one line that says why', async () => {
  const encrypted = execFileSync('openssl', ['pkey', '-aes256', '-passout', 'pass:x'], { input: OLD.key }).toString();
  expect([
    await refusal({ key: NEW.key }),
    await refusal({ cert: NEW.cert + OLD.cert }),
    await refusal({ key: encrypted }),
    await refusal({ key: OLD.key.slice(0, 100) }),
    await refusal({ cert: OLD.cert.slice(0, 200) }),
    await refusal({ cert: OLD.cert.replace(/.{40}\n/, `${'A'.repeat(40)}\n`) }),
    await refusal({ cert: '\x30\x82' }),
    await refusal({ cert: 'x'.repeat(1024 * 1024 + 1) }),
  ]).toEqual([
    'TOLLGATE_TLS_KEY: the key in "/tls.key" does not fit the certificate in "/tls.crt"',
    'TOLLGATE_TLS_CERT: "/tls.crt" must begin with the server\'s own certificate; the one that the key fits comes later in it',
    'TOLLGATE_TLS_KEY: the key in "/tls.key" has a passphrase, and nobody is there to type it in: take it out (openssl pkey -in KEY -out NEW-KEY) and let the file\'s mode protect the key',
    'TOLLGATE_TLS_KEY: "/tls.key" holds no whole private key in PEM',
    'TOLLGATE_TLS_CERT: "/tls.crt" holds no whole certificate',
    expect.stringMatching(/^TOLLGATE_TLS_CERT: a certificate in "\/tls.crt" is damaged: [^\n]+$/),
    'TOLLGATE_TLS_CERT: "/tls.crt" is not in PEM (-----BEGIN …)',
    'TOLLGATE_TLS_CERT: cannot read the file: "/tls.crt" has more than 1 MiB',
  ]);
  rmSync(files.cert);
  await expect(start()).rejects.toThrow(/^TOLLGATE_TLS_CERT: cannot read the file: ENOENT[^\n]+$/);
});

test('one that is outside its dates, or for no host, is taken at a start and said to be of no use', async () => {
  write(makeCertificate({ hasExpired: true }));
  await start(3_600_000);
  write(makeCertificate({ names: '' }));
  await start(3_600_000);
  write(makeCertificate({ isEarly: true }));
  await start(3_600_000);
  expect(said).toEqual([
    expect.stringMatching(/^the certificate has expired on 20\S+Z: clients will refuse it; the files are read again/),
    expect.stringMatching(/^the certificate is valid for no host \(it has no subjectAltName\): clients will refuse it/),
    expect.stringMatching(/^the certificate is not valid before 2126-01-01T00:00:00.000Z: clients will refuse it/),
  ]);
});

test('files that are written anew come into force by themselves, once, with ticket keys of their own', async () => {
  write(OLD);
  const renewal = await start();
  const before = renewal.identity();
  write(NEW);
  await until(() => renewed.length > 0);
  await sleep(50);
  expect(renewed).toEqual([{ ...NEW, ticketKeys: expect.stringMatching(/^[\w+/]{64}$/) }]);
  expect(renewed[0]?.ticketKeys).not.toBe(before.ticketKeys);
  expect(renewal.identity()).toEqual(renewed[0]);
  expect(renewal.status().names).toEqual(['new.example.com']);
  expect(said).toEqual(['a new certificate is in force for new connections']);
});

test.each(['..data', 'live'])('so do files behind a link %s that is swapped', async (link) => {
  for (const [name, { cert, key }] of Object.entries({ old: OLD, new: NEW })) {
    mkdirSync(join(dir, name));
    writeFileSync(join(dir, name, 'tls.crt'), cert);
    writeFileSync(join(dir, name, 'tls.key'), key);
  }
  symlinkSync('old', join(dir, link));
  // As in a Kubernetes secret the files are links through the link; certbot's are links to be followed once.
  symlinkSync(join(link, 'tls.crt'), files.cert);
  symlinkSync(join(link, 'tls.key'), files.key);
  await start();
  symlinkSync('new', join(dir, 'swap'));
  renameSync(join(dir, 'swap'), join(dir, link));
  await until(() => renewed.length > 0);
  expect(renewed).toMatchObject([NEW]);
});

test('a pair that is written half changes nothing, is told once, and comes into force when it is whole', async () => {
  write(OLD);
  const renewal = await start();
  writeFileSync(files.cert, NEW.cert);
  await until(() => renewal.status().problem !== null);
  await sleep(50);
  expect(renewal.status().problem).toMatch(/^TOLLGATE_TLS_KEY: the key in .* does not fit the certificate in /);
  expect([renewal.identity().cert, renewed.length]).toEqual([OLD.cert, 0]);
  rmSync(files.key);
  await until(() => renewal.status().problem?.includes('ENOENT') === true);
  writeFileSync(files.key, NEW.key);
  await until(() => renewed.length > 0);
  expect(renewal.status().problem).toBeNull();
  expect(said).toEqual([
    expect.stringMatching(/^the certificate before stays in force: TOLLGATE_TLS_KEY: the key in .* does not fit/),
    expect.stringMatching(/^the certificate before stays in force: TOLLGATE_TLS_KEY: cannot read the file: ENOENT/),
    'a new certificate is in force for new connections',
  ]);
});

test.each([
  ['has expired', { hasExpired: true }, 'the certificate has expired on 2'],
  ['is not valid yet', { isEarly: true }, 'the certificate is not valid before 2126-01-01T00:00:00.000Z'],
] as const)(
  'one that %s does not take the place of one that is valid, until the files are as before',
  async (_, how, why) => {
    write(OLD);
    const renewal = await start();
    write(makeCertificate(how));
    await until(() => renewal.status().problem !== null);
    expect(renewal.status().problem).toContain(`TOLLGATE_TLS_CERT: ${why}`);
    write(OLD);
    await until(() => renewal.status().problem === null);
    expect([renewed.length, said.at(-1)]).toEqual([0, 'the TLS files hold the pair in force again']);
  },
);

test('asked for it, the files are read at once, and what is wrong with them is said without a second look', async () => {
  write(OLD);
  const renewal = await start(3_600_000);
  write({ ...NEW, key: OLD.key });
  await renewal.look();
  expect(renewal.status().problem).toContain('does not fit');
  write(NEW);
  await renewal.look();
  expect([renewal.status().problem, renewed.length]).toEqual([null, 1]);
});
