import { expect, test } from 'vitest';
import { OperatorError } from '../../vocabulary/errors.ts';
import { isLoopbackHost, listExposureWarnings } from './exposure.ts';
import { readConfig } from './read-config.ts';

function refusal(env: Record<string, string>): string {
  try {
    readConfig({}, env);
  } catch (error) {
    if (error instanceof OperatorError) return error.message;
    throw error;
  }
  return 'accepted';
}

test('only addresses of this machine are loopback; a name that may lead anywhere is not', () => {
  const hosts = ['127.0.0.1', '127.8.9.1', 'localhost', 'LOCALHOST', '::1', '::ffff:127.0.0.1'];
  expect(hosts.filter(isLoopbackHost)).toEqual(hosts);
  const others = [
    '0.0.0.0',
    '::',
    '192.168.1.7',
    '128.0.0.1',
    '::2',
    'gate.example.com',
    '127.0.0.1.example.com',
    '127.1',
    'localhost.example.com',
    'fe80::1',
    '::ffff:10.0.0.1',
  ];
  expect(others.filter(isLoopbackHost)).toEqual([]);
});

test('the admin port is refused beyond loopback unless TLS stands in front or the operator says that it is meant', () => {
  for (const host of ['0.0.0.0', '::', '10.0.0.7', 'gate.example.com']) {
    const env = { TOLLGATE_ADMIN_HOST: host };
    expect(refusal(env)).toBe(
      `TOLLGATE_ADMIN_HOST: ${JSON.stringify(host)} would show dashboard and API, in plain HTTP, to other machines. ` +
        'Put TLS in front and set TOLLGATE_ADMIN_PUBLIC_URL=https://…, or say that it is meant: ' +
        'TOLLGATE_ADMIN_EXPOSED=yes (--admin-exposed), where nothing but a port mapping or a private network can reach it',
    );
    expect(refusal({ ...env, TOLLGATE_PUBLIC_URL: 'http://gate.example.com' })).toContain('other machines');
    expect(refusal({ ...env, TOLLGATE_ADMIN_EXPOSED: 'no' })).toContain('other machines');
    expect(refusal({ ...env, TOLLGATE_PUBLIC_URL: 'https://gate.example.com' })).toBe('accepted');
    expect(refusal({ ...env, TOLLGATE_ADMIN_EXPOSED: 'yes' })).toBe('accepted');
  }
  expect(refusal({ TOLLGATE_ADMIN_HOST: '::1' })).toBe('accepted');
  expect(refusal({ TOLLGATE_ADMIN_EXPOSED: 'maybe' })).toBe(
    'TOLLGATE_ADMIN_EXPOSED: "maybe" is not allowed; it must be "no" or "yes"',
  );
  expect(readConfig({ adminHost: '0.0.0.0', adminExposed: true }, {}).adminExposed).toBe(true);
});

test('a port that other machines reach in plain HTTP is warned of, the proxy port too', () => {
  const config = {
    host: '0.0.0.0',
    adminHost: '10.0.0.7',
    adminExposed: true,
    publicUrl: null,
    adminPublicUrl: null,
    role: 'all',
    tls: null,
  } as const;
  expect(listExposureWarnings(config)).toEqual([
    'TOLLGATE_HOST: the proxy listens on 0.0.0.0 in plain HTTP: provider credentials, gateway keys and prompts can be read on the way to it. Set TOLLGATE_TLS_CERT and TOLLGATE_TLS_KEY, or put TLS in front and set TOLLGATE_PUBLIC_URL=https://…',
    'TOLLGATE_ADMIN_HOST: dashboard and API listen on 10.0.0.7 in plain HTTP, as TOLLGATE_ADMIN_EXPOSED asks for',
  ]);
  expect(listExposureWarnings({ ...config, publicUrl: 'https://gate.example.com' })).toEqual([]);
  const tls = { cert: '/etc/tls/tls.crt', key: '/etc/tls/tls.key' };
  expect(listExposureWarnings({ ...config, tls })).toEqual([
    'TOLLGATE_ADMIN_HOST: dashboard and API listen on 10.0.0.7 in plain HTTP, as TOLLGATE_ADMIN_EXPOSED asks for',
  ]);
  expect(listExposureWarnings(readConfig({}, {}))).toEqual([]);
});

test('an address in plain HTTP for a port that speaks TLS is remarked on', () => {
  const files = { TOLLGATE_TLS_CERT: '/etc/tls/tls.crt', TOLLGATE_TLS_KEY: '/etc/tls/tls.key' };
  expect(listExposureWarnings(readConfig({}, { ...files, TOLLGATE_PUBLIC_URL: 'http://gate.example.com' }))).toEqual([
    'TOLLGATE_PUBLIC_URL: it begins with http://, and the proxy port speaks TLS: clients that use this address get nowhere. Set it to https://…',
  ]);
  expect(listExposureWarnings(readConfig({}, { ...files, TOLLGATE_PUBLIC_URL: 'https://gate.example.com' }))).toEqual(
    [],
  );
});

test('a node that only takes calls has no dashboard to show, and one without proxies no calls', () => {
  const database = { DATABASE_URL: 'postgresql://db.example/calls' };
  expect(refusal({ ...database, TOLLGATE_ROLE: 'proxy', TOLLGATE_ADMIN_HOST: '0.0.0.0' })).toBe('accepted');
  expect(refusal({ ...database, TOLLGATE_ROLE: 'control', TOLLGATE_ADMIN_HOST: '0.0.0.0' })).toContain(
    'other machines',
  );
  const config = {
    host: '0.0.0.0',
    adminHost: '10.0.0.7',
    adminExposed: true,
    publicUrl: null,
    adminPublicUrl: null,
    tls: null,
  };
  expect(listExposureWarnings({ ...config, role: 'proxy' }).map((line) => line.slice(0, 14))).toEqual([
    'TOLLGATE_HOST:',
  ]);
  expect(listExposureWarnings({ ...config, role: 'control' }).map((line) => line.slice(0, 20))).toEqual([
    'TOLLGATE_ADMIN_HOST:',
  ]);
});
