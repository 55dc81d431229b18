import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { OperatorError } from '../../vocabulary/errors.ts';
import { readConfig } from './read-config.ts';
import { listUnknownSettings } from './unknown-settings.ts';

const ID = 'AKIAIOSFODNN7EXAMPLE';
const KEYS = { accessKeyId: ID, secretAccessKey: 'hunter2', sessionToken: null };

function refusal(env: Record<string, string>): string {
  try {
    readConfig({}, env);
  } catch (error) {
    if (error instanceof OperatorError) return error.message;
    throw error;
  }
  return 'accepted';
}

test('a region alone is an upstream at that region’s own host', () => {
  const { upstreams, aliases } = readConfig(
    {},
    { TOLLGATE_AWS_BEDROCK_REGION: 'eu-central-1', TOLLGATE_AWS_BEDROCK_CHINA_REGION: 'cn-north-1' },
  );
  expect(upstreams).toEqual({
    bedrock: { origin: 'https://bedrock-runtime.eu-central-1.amazonaws.com', region: 'eu-central-1', isBuiltIn: true },
  });
  expect(aliases).toEqual({
    bedrock: {
      china: { origin: 'https://bedrock-runtime.cn-north-1.amazonaws.com.cn', region: 'cn-north-1', isBuiltIn: true },
    },
  });
});

test('keys, with region and service from the address where it is one of AWS’s', () => {
  const dir = mkdtempSync(join(tmpdir(), 'tg-'));
  writeFileSync(join(dir, 'secret'), 'hunter2\n');
  const { upstreams, aliases } = readConfig(
    {},
    {
      TOLLGATE_UPSTREAM_BEDROCK: 'https://bedrock-mantle.us-east-1.api.aws',
      TOLLGATE_AWS_BEDROCK_CREDENTIALS: 'ambient',
      TOLLGATE_UPSTREAM_BEDROCK_RELAY: 'http://10.0.0.1:8080/aws',
      TOLLGATE_AWS_BEDROCK_RELAY_REGION: 'us-gov-west-1',
      TOLLGATE_AWS_BEDROCK_RELAY_ACCESS_KEY_ID: ID,
      TOLLGATE_AWS_BEDROCK_RELAY_SECRET_ACCESS_KEY_FILE: join(dir, 'secret'),
      TOLLGATE_UPSTREAM_ANTHROPIC_ON_AWS: 'https://aws-external-anthropic.us-west-2.api.aws',
      TOLLGATE_AWS_ANTHROPIC_ON_AWS_ACCESS_KEY_ID: ID,
      TOLLGATE_AWS_ANTHROPIC_ON_AWS_SECRET_ACCESS_KEY: 'hunter2',
      TOLLGATE_AWS_ANTHROPIC_ON_AWS_SESSION_TOKEN: 'token',
    },
  );
  expect(upstreams.bedrock?.aws).toEqual({
    host: 'bedrock-mantle.us-east-1.api.aws',
    service: 'bedrock-mantle',
    region: 'us-east-1',
    credentials: 'ambient',
  });
  expect(aliases.bedrock).toEqual({
    relay: {
      origin: 'http://10.0.0.1:8080/aws',
      region: 'us-gov-west-1',
      aws: {
        host: 'bedrock-runtime.us-gov-west-1.amazonaws.com',
        service: 'bedrock',
        region: 'us-gov-west-1',
        credentials: KEYS,
      },
    },
  });
  expect(aliases.anthropic?.['on-aws']?.aws).toEqual({
    host: 'aws-external-anthropic.us-west-2.api.aws',
    service: 'aws-external-anthropic',
    region: 'us-west-2',
    credentials: { ...KEYS, sessionToken: 'token' },
  });
  rmSync(dir, { recursive: true });
});

test.each([
  [
    { TOLLGATE_AWS_BEDROCK_REGION: 'Ireland' },
    'TOLLGATE_AWS_BEDROCK_REGION: "Ireland" is not allowed; it must be an AWS region such as eu-west-1',
  ],
  [
    {
      TOLLGATE_UPSTREAM_BEDROCK_EU: 'https://bedrock-runtime.eu-west-1.amazonaws.com',
      TOLLGATE_AWS_BEDROCK_EU_REGION: 'eu-west-2',
    },
    'TOLLGATE_AWS_BEDROCK_EU_REGION: "eu-west-2" is not the region of TOLLGATE_UPSTREAM_BEDROCK_EU, which is eu-west-1',
  ],
  [
    { TOLLGATE_AWS_BEDROCK_CREDENTIALS: 'ambient' },
    'TOLLGATE_AWS_BEDROCK_REGION: it must be set, since TOLLGATE_UPSTREAM_BEDROCK does not tell a region',
  ],
  [
    { TOLLGATE_AWS_OPENAI_REGION: 'eu-west-1' },
    'TOLLGATE_AWS_OPENAI_REGION: TOLLGATE_UPSTREAM_OPENAI must then be the address of an AWS host that serves models, such as https://bedrock-runtime.eu-west-1.amazonaws.com',
  ],
  [
    { TOLLGATE_AWS_BEDROCK_REGION: 'eu-west-1', TOLLGATE_AWS_BEDROCK_ACCESS_KEY_ID: ID },
    'TOLLGATE_AWS_BEDROCK_ACCESS_KEY_ID is set, but TOLLGATE_AWS_BEDROCK_SECRET_ACCESS_KEY is not; they belong together',
  ],
  [
    { TOLLGATE_AWS_BEDROCK_SESSION_TOKEN: 'hunter2' },
    'TOLLGATE_AWS_BEDROCK_SESSION_TOKEN is set, but TOLLGATE_AWS_BEDROCK_ACCESS_KEY_ID is not; they belong together',
  ],
  [
    { TOLLGATE_AWS_BEDROCK_SECRET_ACCESS_KEY: 'hunter2 hunter2' },
    'TOLLGATE_AWS_BEDROCK_SECRET_ACCESS_KEY: its value does not look like one that AWS gives out',
  ],
  [
    {
      TOLLGATE_AWS_BEDROCK_REGION: 'eu-west-1',
      TOLLGATE_AWS_BEDROCK_CREDENTIALS: 'ambient',
      TOLLGATE_AWS_BEDROCK_ACCESS_KEY_ID: ID,
      TOLLGATE_AWS_BEDROCK_SECRET_ACCESS_KEY: 'hunter2',
    },
    'TOLLGATE_AWS_BEDROCK_CREDENTIALS and TOLLGATE_AWS_BEDROCK_ACCESS_KEY_ID are both set; set one of them',
  ],
  [
    { TOLLGATE_AWS_BEDROCK_CREDENTIALS: 'hunter2' },
    'TOLLGATE_AWS_BEDROCK_CREDENTIALS: it must be "ambient" (AWS\'s own chain: environment, profile, role); keys go into TOLLGATE_AWS_BEDROCK_ACCESS_KEY_ID and TOLLGATE_AWS_BEDROCK_SECRET_ACCESS_KEY',
  ],
])('%o is refused in one line that names the setting, without a secret', (env, line) => {
  expect(refusal({ ...env })).toBe(line);
  expect(line).not.toContain('hunter2');
});

test('a misspelt one is told', () => {
  expect(
    listUnknownSettings({ TOLLGATE_AWS_BEDROCK_ACCES_KEY_ID: ID, TOLLGATE_AWS_BEDROCK_EU_SECRET_ACCESS_KEY_FILE: 'x' }),
  ).toEqual([
    'TOLLGATE_AWS_BEDROCK_ACCES_KEY_ID is not a setting and has no effect; did you mean TOLLGATE_AWS_BEDROCK_ACCESS_KEY_ID?',
  ]);
});
