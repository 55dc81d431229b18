import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ConfigFlags } from '../../vocabulary/config.ts';
import { OperatorError } from '../../vocabulary/errors.ts';
import { readConfig } from './read-config.ts';
import { listUnknownSettings } from './unknown-settings.ts';

function refusal(env: Record<string, string>, flags: ConfigFlags = {}): string {
  try {
    readConfig(flags, env);
  } catch (error) {
    if (error instanceof OperatorError) return error.message;
    throw error;
  }
  return 'accepted';
}

test('without any setting the defaults hold, and the result is frozen', () => {
  const config = readConfig({}, {});
  expect(config).toMatchObject({
    host: '127.0.0.1',
    port: 4141,
    adminHost: '127.0.0.1',
    adminPort: 4142,
    publicUrl: null,
    adminToken: null,
    metricsToken: null,
    credentialKeys: { keys: [], problem: null },
    databaseUrl: null,
    upstreams: {},
    aliases: {},
    bodies: 'full',
    usage: 'ask',
    onClientAbort: 'cancel',
    onRevoke: 'finish',
    durability: 'process',
    onFull: 'open',
    keepAliveSeconds: 75,
    stopDelaySeconds: 5,
    drainSeconds: 30,
    search: 'on',
    estimates: 'on',
    priceFeed: 'off',
    retentionRowsDays: 90,
    retentionBodiesDays: 14,
    logLevel: 'info',
    demo: false,
  });
  expect(Object.isFrozen(config)).toBe(true);
});

test('what becomes of addresses that lead away is said by provider and alias, and a misspelt value is refused', () => {
  const { leading } = readConfig(
    {},
    {
      TOLLGATE_REDIRECTS_OPENAI: 'pass',
      TOLLGATE_REDIRECTS_TOGETHER_MY_MIRROR: 'PASS',
      TOLLGATE_ADDRESSES_ANTHROPIC: 'rewrite',
      TOLLGATE_ADDRESSES_TOGETHER_MY_MIRROR: ' rewrite ',
      TOLLGATE_ADDRESSES_GEMINI: '',
    },
  );
  expect(leading).toEqual({
    openai: { '': { redirects: 'pass', addresses: 'keep' } },
    anthropic: { '': { redirects: 'refuse', addresses: 'rewrite' } },
    together: { 'my-mirror': { redirects: 'pass', addresses: 'rewrite' } },
  });
  expect(refusal({ TOLLGATE_REDIRECTS_OPENAI: 'yes' })).toBe(
    'TOLLGATE_REDIRECTS_OPENAI: "yes" is not allowed; it must be "refuse" or "pass"',
  );
  expect(refusal({ TOLLGATE_ADDRESSES_OPENAI_EU: 'on' })).toBe(
    'TOLLGATE_ADDRESSES_OPENAI_EU: "on" is not allowed; it must be "keep" or "rewrite"',
  );
  expect(listUnknownSettings({ TOLLGATE_REDIRECTS_OPENAI_EU: 'pass', TOLLGATE_REDIRECT_OPENAI: 'pass' })).toEqual([
    'TOLLGATE_REDIRECT_OPENAI is not a setting and has no effect; did you mean TOLLGATE_REDIRECTS_OPENAI?',
  ]);
});

test('prices are fetched over https only, but from this machine', () => {
  const feeds = ['ON', 'off', 'https://prices.example/v2/data.json', 'http://127.0.0.1:8080/data.json'];
  expect(feeds.map((feed) => readConfig({}, { TOLLGATE_PRICE_FEED: feed }).priceFeed)).toEqual([
    'on',
    'off',
    'https://prices.example/v2/data.json',
    'http://127.0.0.1:8080/data.json',
  ]);
  for (const feed of ['http://prices.example/data.json', 'daily', 'ftp://prices.example', 'https://x.example/?key=1'])
    expect(refusal({ TOLLGATE_PRICE_FEED: feed })).toBe(
      `TOLLGATE_PRICE_FEED: ${JSON.stringify(feed)} is not allowed; it must be "off", "on" or the https:// address of a price catalog`,
    );
  expect(refusal({ TOLLGATE_PRICE_FEED: 'https://me:secret@prices.example' })).not.toContain('secret');
});

test('a flag wins over the environment, and an empty variable counts as not set', () => {
  const config = readConfig({ port: '1', dataDir: '/flag' }, { TOLLGATE_PORT: '2', TOLLGATE_BODIES: ' ' });
  expect([config.port, config.dataDir, config.bodies]).toEqual([1, '/flag', 'full']);
});

test('upstreams and aliases are read, with the region of AWS hosts', () => {
  const { upstreams, aliases } = readConfig(
    {},
    {
      TOLLGATE_UPSTREAM_OPENAI: 'http://127.0.0.1:9000/',
      TOLLGATE_UPSTREAM_BEDROCK: 'https://bedrock-runtime.eu-west-1.amazonaws.com',
      TOLLGATE_UPSTREAM_BEDROCK_GOV_CLOUD: 'https://bedrock-runtime-fips.us-gov-west-1.amazonaws.com',
      TOLLGATE_UPSTREAM_BEDROCK_PRIVATE: 'https://vpce-1-a.bedrock-runtime.ap-southeast-2.vpce.amazonaws.com',
      TOLLGATE_UPSTREAM_BEDROCK_MANTLE: 'https://bedrock-mantle.us-east-1.api.aws',
      TOLLGATE_UPSTREAM_OPENAI_EU: 'https://eu.example.com/openai/',
    },
  );
  expect(upstreams).toEqual({
    openai: { origin: 'http://127.0.0.1:9000', region: null },
    bedrock: { origin: 'https://bedrock-runtime.eu-west-1.amazonaws.com', region: 'eu-west-1' },
  });
  expect(aliases).toEqual({
    openai: { eu: { origin: 'https://eu.example.com/openai', region: null } },
    bedrock: {
      'gov-cloud': { origin: 'https://bedrock-runtime-fips.us-gov-west-1.amazonaws.com', region: 'us-gov-west-1' },
      private: {
        origin: 'https://vpce-1-a.bedrock-runtime.ap-southeast-2.vpce.amazonaws.com',
        region: 'ap-southeast-2',
      },
      mantle: { origin: 'https://bedrock-mantle.us-east-1.api.aws', region: 'us-east-1' },
    },
  });
});

test.each([
  [{ TOLLGATE_PORT: '70000' }, 'TOLLGATE_PORT: "70000" is not allowed; it must be a whole number from 0 to 65535'],
  [{ TOLLGATE_PORT: '4142' }, 'TOLLGATE_ADMIN_PORT: 4142 is also TOLLGATE_PORT; the two must differ'],
  [{ TOLLGATE_BODIES: 'some' }, 'TOLLGATE_BODIES: "some" is not allowed; it must be "full" or "off"'],
  [
    { TOLLGATE_ROLE: 'proxy' },
    'TOLLGATE_ROLE: "proxy" needs DATABASE_URL, the PostgreSQL that all nodes share; without one a gateway has the role "all"',
  ],
  [{ TOLLGATE_ROLE: 'worker' }, 'TOLLGATE_ROLE: "worker" is not allowed; it must be "all" or "proxy" or "control"'],
  [
    { TOLLGATE_HOST: 'http://x' },
    'TOLLGATE_HOST: "http://x" is not allowed; it must be a host name or an IP address to listen on, such as 127.0.0.1 or 0.0.0.0',
  ],
  [
    { TOLLGATE_UPSTREAM_OPENAI: 'api.openai.com' },
    'TOLLGATE_UPSTREAM_OPENAI: "api.openai.com" is not allowed; it must be a base address: https://host, or https://host/prefix',
  ],
  [
    { TOLLGATE_UPSTREAM_OPENAI_EU: 'https://me:pw@host' },
    'TOLLGATE_UPSTREAM_OPENAI_EU: it must be a base address: https://host, or https://host/prefix, without a user name or password',
  ],
  [
    { DATABASE_URL: 'mysql://me:pw@host/db' },
    'DATABASE_URL: it must be of the form postgresql://user:password@host:5432/database',
  ],
  [
    { DATABASE_URL: 'postgresql://me:pw@host/db?sslmode=verify_full' },
    'DATABASE_URL: sslmode may be disable, prefer, require, verify-ca, verify-full, no-verify, and not "verify_full"',
  ],
  [
    { TOLLGATE_ADMIN_TOKEN: 'short' },
    'TOLLGATE_ADMIN_TOKEN: it must be 16 to 512 printable ASCII characters without spaces',
  ],
  [
    { DATABASE_URL: 'postgres://a', DATABASE_URL_FILE: '/b' },
    'DATABASE_URL and DATABASE_URL_FILE are both set; set one of them',
  ],
  [
    { DATABASE_URL_FILE: 'postgres://me:secret@host/db' },
    'DATABASE_URL_FILE: there is no file of this name; it must be the path of a file',
  ],
  [
    { DATABASE_URL_FILE: '/nowhere/x' },
    "DATABASE_URL_FILE: cannot read the file: ENOENT: no such file or directory, open '/nowhere/x'",
  ],
])('%o is refused in one line that names it', (env, line) => {
  expect(refusal({ ...env })).toBe(line);
});

test('certificate and key are two files, and one without the other is refused', () => {
  expect(readConfig({ tlsKey: '/k.pem' }, { TOLLGATE_TLS_CERT: '/etc/c.pem' }).tls).toEqual({
    cert: '/etc/c.pem',
    key: '/k.pem',
  });
  expect(refusal({ TOLLGATE_TLS_CERT: '/etc/c.pem', TOLLGATE_TLS_KEY: ' ' })).toBe(
    'TOLLGATE_TLS_CERT is set and TOLLGATE_TLS_KEY is not: the proxy port speaks TLS with both, plain HTTP with neither',
  );
  expect(refusal({}, { tlsKey: 'k.pem' })).toMatch(
    /^TOLLGATE_TLS_KEY \(--tls-key\) is set and TOLLGATE_TLS_CERT is not/,
  );
});

test('a key that is given in place of the name of its file is refused without being shown', () => {
  const key = '-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----\n';
  expect(refusal({ TOLLGATE_TLS_CERT: '/etc/c.pem', TOLLGATE_TLS_KEY: key })).toBe(
    'TOLLGATE_TLS_KEY: it must be the name of a file in PEM, and is given what belongs into that file',
  );
});

test('a wrong flag is named with its variable', () => {
  expect(refusal({}, { workers: '0' })).toBe(
    'TOLLGATE_WORKERS (--workers): "0" is not allowed; it must be a whole number from 1 to 64',
  );
});

test('a secret is read from the first line of a file', () => {
  const dir = mkdtempSync(join(tmpdir(), 'tg-'));
  const file = join(dir, 'url');
  writeFileSync(file, 'postgresql://me@host/db\n\n');
  expect(readConfig({}, { DATABASE_URL_FILE: file }).databaseUrl).toBe('postgresql://me@host/db');
  writeFileSync(file, '\n');
  expect(refusal({ DATABASE_URL_FILE: file })).toBe(
    `DATABASE_URL_FILE: the first line of ${JSON.stringify(file)} is empty`,
  );
  rmSync(dir, { recursive: true });
});

test('a variable that is no setting is told with the nearest name; others are nobody’s business', () => {
  expect(
    listUnknownSettings({
      TOLLGATE_DATADIR: '/x',
      TOLLGATE_UPSTREAM_GEMINY: 'x',
      TOLLGATE_UPSTREAM_GEMINI_EU: 'x',
      TOLLGATE_PORT: '1',
      TOLLGATE_SMTP_URL_FILE: '/x',
      TOLL: '1',
      HOME: '/',
    }),
  ).toEqual([
    'TOLLGATE_DATADIR is not a setting and has no effect; did you mean TOLLGATE_DATA_DIR?',
    'TOLLGATE_UPSTREAM_GEMINY is not a setting and has no effect; did you mean TOLLGATE_UPSTREAM_GEMINI?',
  ]);
});

test('a stop is announced five seconds before it begins, and not at all in a terminal, unless it is set', () => {
  expect(readConfig({}, {}, false).stopDelaySeconds).toBe(5);
  expect(readConfig({}, {}, true).stopDelaySeconds).toBe(0);
  expect(readConfig({}, { TOLLGATE_STOP_DELAY_SECONDS: '0' }, false).stopDelaySeconds).toBe(0);
  expect(readConfig({ stopDelaySeconds: '7' }, {}, true).stopDelaySeconds).toBe(7);
});

test('a role says what a node does; without proxies their port is nobody’s, and the example provider needs all roles', () => {
  const database = { DATABASE_URL: 'postgresql://db.example/calls' };
  expect(readConfig({}, {}).role).toBe('all');
  expect(readConfig({ role: 'proxy' }, { ...database, TOLLGATE_ROLE: 'control' }).role).toBe('proxy');
  expect(readConfig({}, { ...database, TOLLGATE_ROLE: 'Control', TOLLGATE_PORT: '4142' })).toMatchObject({
    role: 'control',
    port: 4142,
    adminPort: 4142,
  });
  expect(refusal({}, { role: 'control' })).toContain('TOLLGATE_ROLE (--role): "control" needs DATABASE_URL');
  expect(refusal({ ...database, TOLLGATE_PORT: '4142' }, { role: 'proxy' })).toContain('also TOLLGATE_PORT');
  expect(refusal(database, { role: 'control', demo: true })).toBe(
    '--demo: it is for a gateway on one machine, which has the role "all"',
  );
});

test.each(['socks5://me:s3cret@proxy.example:1080', 'http://me:s3cret@'])(
  'a proxy that is none is refused without its password: %s',
  (HTTPS_PROXY) =>
    expect(() => readConfig({}, { HTTPS_PROXY })).toThrow(
      'HTTPS_PROXY: it must be the address of an HTTP proxy, such as http://proxy.example:3128 or http://user:password@proxy.example:3128',
    ),
);
