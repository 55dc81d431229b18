import { expect, test } from 'vitest';
import { childEnvironment, controlConfig, proxyConfig } from './child-secrets.ts';
import { readConfig } from './settings/read-config.ts';

const ENV = {
  PATH: '/usr/bin',
  DATABASE_URL: 'postgresql://user:CANARY@db/tollgate',
  DATABASE_URL_FILE: '/run/CANARY',
  TOLLGATE_ADMIN_TOKEN: 'CANARY-admin-token',
  TOLLGATE_METRICS_TOKEN: 'CANARY-metrics-token',
  TOLLGATE_AWS_BEDROCK_REGION: 'eu-west-1',
  TOLLGATE_AWS_BEDROCK_ACCESS_KEY_ID: 'AKIACANARY0000000000',
  TOLLGATE_AWS_BEDROCK_SECRET_ACCESS_KEY: 'CANARY-secret',
};

test('no secret reaches a child by its environment, and everything else does', () => {
  expect(childEnvironment(ENV, '/data/compile-cache')).toEqual({
    NODE_COMPILE_CACHE: '/data/compile-cache',
    UV_THREADPOOL_SIZE: '32',
    PATH: '/usr/bin',
  });
});

test('a child has threads for sixteen look-ups of names at once, unless the operator says otherwise', () => {
  expect(childEnvironment({}, '/c')['UV_THREADPOOL_SIZE']).toBe('32');
  expect(childEnvironment({ UV_THREADPOOL_SIZE: '8' }, '/c')['UV_THREADPOOL_SIZE']).toBe('8');
});

test('a proxy signs for AWS, and knows neither the database nor the tokens; the control process the other way round', () => {
  const { DATABASE_URL_FILE: _, ...env } = ENV;
  const config = readConfig({}, env);
  expect(proxyConfig(config)).toMatchObject({ databaseUrl: null, adminToken: null, metricsToken: null });
  expect(JSON.stringify(proxyConfig(config))).toContain('CANARY-secret');
  expect(controlConfig(config)).toMatchObject({ upstreams: {}, aliases: {}, databaseUrl: ENV.DATABASE_URL });
  expect(JSON.stringify(controlConfig(config))).not.toContain('CANARY-secret');
});
