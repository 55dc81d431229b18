/** The files of `tollgate tls init`, and what others make of them: Node, openssl and curl. */
import { execFile, execFileSync } from 'node:child_process';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { initTls } from '../../src/cli/tls/init-tls.ts';
import { issueServerCertificate } from '../../src/cli/tls/issue-certificate.ts';

let dir: string;
beforeEach(() => {
  dir = join(mkdtempSync(join(tmpdir(), 'tg-')), 'tls');
});
afterEach(() => rmSync(join(dir, '..'), { recursive: true }));

function init(names: readonly string[] = [], renews = false) {
  return initTls({ dir, names, renews });
}

function read(name: string): string {
  return readFileSync(join(dir, name), 'utf8');
}

function modes(): string[] {
  return readdirSync(dir).map((name) => `${name} ${(statSync(join(dir, name)).mode & 0o777).toString(8)}`);
}

/** `null` where openssl, as strict as it can be, accepts the server certificate; otherwise why not. */
function refusalOf(server: string): string | null {
  try {
    execFileSync('openssl', ['verify', '-x509_strict', '-CAfile', join(dir, 'authority.crt')], {
      input: server,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    return null;
  } catch (error) {
    return /error \d+ at .*: (.*)/.exec(String(Object(error).stderr))?.[1] ?? String(error);
  }
}

test('the authority and the certificate are made, keys for their owner only', () => {
  const made = init(['Gateway.Internal', '10.1.2.3', '[FD00::0:1]', '*.apps.internal']);
  expect(made.names).toEqual([
    'localhost',
    '127.0.0.1',
    '::1',
    'gateway.internal',
    '10.1.2.3',
    'fd00::1',
    '*.apps.internal',
  ]);
  expect(modes()).toEqual([
    'authority.crt 644',
    'authority.key 600',
    'server.crt 644',
    'server.key 600',
    'trusted.crt 644',
  ]);
  expect(refusalOf(read('server.crt'))).toBeNull();
  const server = new X509Certificate(read('server.crt'));
  for (const host of ['localhost', 'gateway.internal', 'a.apps.internal'])
    expect(server.checkHost(host)).not.toBe(undefined);
  for (const address of ['127.0.0.1', '::1', '10.1.2.3', 'fd00::1']) expect(server.checkIP(address)).toBe(address);
  expect(made.validTo.getTime() - Date.now()).toBeLessThanOrEqual(397 * 86_400_000);
});

test('what the authority was not made for, nobody believes it', () => {
  init(['gateway.internal']);
  const authority = {
    cert: new X509Certificate(read('authority.crt')),
    key: createPrivateKey(read('authority.key')),
  };
  const of = (...names: string[]) => refusalOf(issueServerCertificate(authority, names).cert);
  expect([of('gateway.internal'), of('below.localhost'), of('localhost', '127.1.2.3')]).toEqual([null, null, null]);
  expect([of('api.openai.com'), of('gateway.internal', '10.1.2.3'), of('localhost', 'fd00::1')]).toEqual([
    'permitted subtree violation',
    'permitted subtree violation',
    'permitted subtree violation',
  ]);
});

test('nothing is overwritten, and a renewal keeps the authority and the names', () => {
  init(['gateway.internal']);
  const [authority, server] = [read('authority.crt'), read('server.crt')];
  expect(() => init()).toThrow(/holds certificates already, and nothing was changed: --renew makes/);
  expect(init([], true).names).toEqual(['localhost', '127.0.0.1', '::1', 'gateway.internal']);
  expect(read('authority.crt')).toBe(authority);
  expect(read('server.crt')).not.toBe(server);
  expect(refusalOf(read('server.crt'))).toBeNull();
  expect(init(['below.gateway.internal'], true).names).toEqual([
    'localhost',
    '127.0.0.1',
    '::1',
    'below.gateway.internal',
  ]);
  expect(readdirSync(dir)).toHaveLength(5);
});

test('what cannot be done is said in one line', () => {
  expect(() => init([], true)).toThrow(
    /^--renew: there is no .*authority.crt with its key; `tollgate tls init` without/,
  );
  for (const name of ['a b', 'http://a', '-a.b', '1.2.3', 'a..b', 'ä.de', '*'])
    expect(() => init([name])).toThrow(`--name: ${JSON.stringify(name)} is not allowed; it must be a host such as`);
  init(['gateway.internal']);
  expect(() => init(['api.openai.com', '10.0.0.1', 'notgateway.internal'], true)).toThrow(
    '--name: the authority may not vouch for api.openai.com, 10.0.0.1, notgateway.internal, since it was made for other names',
  );
});

test('curl trusts it by the file with all authorities, and that file alone serves for others too', async () => {
  init();
  const server = createServer({ cert: read('server.crt'), key: read('server.key') }, (_request, answer) =>
    answer.end('hi'),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = Object(server.address());
  const curl = (env: Record<string, string>) =>
    promisify(execFile)('curl', ['-sS', `https://127.0.0.1:${port}`], { env: { PATH: process.env['PATH'], ...env } });
  expect((await curl({ CURL_CA_BUNDLE: join(dir, 'trusted.crt') })).stdout).toBe('hi');
  await expect(curl({})).rejects.toThrow(/unable to get local issuer certificate/);
  server.closeAllConnections();
  server.close();
  const blocks = read('trusted.crt').match(/-----BEGIN CERTIFICATE-----/g) ?? [];
  expect(blocks.length).toBeGreaterThan(100);
});
