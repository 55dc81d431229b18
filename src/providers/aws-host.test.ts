import { expect, test } from 'vitest';
import { isAwsRegion, readAwsHost } from './aws-host.ts';

test.each([
  ['bedrock-runtime.eu-west-1.amazonaws.com', 'bedrock', 'eu-west-1'],
  ['Bedrock-Runtime.us-east-1.amazonaws.com:443', 'bedrock', 'us-east-1'],
  ['bedrock-runtime-fips.us-gov-west-1.amazonaws.com', 'bedrock', 'us-gov-west-1'],
  ['bedrock-runtime.ap-southeast-2.api.aws', 'bedrock', 'ap-southeast-2'],
  ['bedrock-runtime.cn-northwest-1.amazonaws.com.cn', 'bedrock', 'cn-northwest-1'],
  ['bedrock-mantle.us-east-1.api.aws', 'bedrock-mantle', 'us-east-1'],
  ['aws-external-anthropic.us-west-2.api.aws', 'aws-external-anthropic', 'us-west-2'],
])('%s is %s in %s', (host, service, region) => {
  expect(readAwsHost(host)).toMatchObject({ service, region, isPublic: true });
});

test('a private endpoint is known, and not public', () => {
  expect(readAwsHost('vpce-1-a.bedrock-runtime.eu-west-1.vpce.amazonaws.com')).toEqual({
    name: 'vpce-1-a.bedrock-runtime.eu-west-1.vpce.amazonaws.com',
    service: 'bedrock',
    region: 'eu-west-1',
    isPublic: false,
  });
});

test.each([
  'bedrock-runtime.eu-west-1.amazonaws.com.evil.example',
  'evil.bedrock-runtime.eu-west-1.amazonaws.com',
  'bedrock-runtime.evil.amazonaws.com',
  'bedrock-runtime.eu-west-1.amazonaws.com:80',
  'bedrock-runtime.eu-west-1.amazonaws.com.',
  'bedrock-runtime.eu-west-1.amazonaws.com\n',
  'user@bedrock-runtime.eu-west-1.amazonaws.com',
  'bedrock-runtimeXeu-west-1.amazonaws.com',
  's3.eu-west-1.amazonaws.com',
  'vpce-1.evil.eu-west-1.vpce.amazonaws.com',
  '127.0.0.1',
  '',
])('%o is none of them', (host) => {
  expect(readAwsHost(host)).toBeNull();
});

test('regions', () => {
  const regions = ['us-east-1', 'us-gov-east-1', 'us-isob-east-1', 'eusc-de-east-1', 'il-central-1', 'mx-central-1'];
  expect(regions.filter((region) => !isAwsRegion(region))).toEqual([]);
  expect(['eu-west', 'eu-west-1a', 'EU-WEST-1', 'x', 'eu-west-1.evil'].filter(isAwsRegion)).toEqual([]);
});
