import { expect, test } from 'vitest';
import { leadAddress, readAddress, writeLedAddress } from './address-owner.ts';

const GATEWAYS = ['http://127.0.0.1:4141/@tgr_1', 'https://corp.example/tollgate/'];
const ownerOf = (address: unknown) => readAddress(address, GATEWAYS)?.owner ?? null;

test.each([
  ['https://api.openai.com/v1', 'openai'],
  ['https://api.openai.com:443/v1', 'openai'],
  ['https://api.anthropic.com', 'anthropic'],
  ['https://generativelanguage.googleapis.com', 'gemini'],
  ['https://api.together.ai/v1', 'together'],
  ['https://api.together.xyz/v1', 'together'],
  ['https://api.fireworks.ai/inference/v1', 'fireworks'],
  ['https://api.deepseek.com', 'deepseek'],
  ['https://bedrock-runtime.us-east-1.amazonaws.com', 'bedrock'],
  // Regions and other services, to which the gateway does not send.
  ['https://eu.api.openai.com/v1', 'foreign'],
  ['https://us.api.fireworks.ai/inference/v1', 'foreign'],
  ['https://bedrock-runtime.eu-west-1.amazonaws.com', 'foreign'],
  ['https://bedrock-runtime-fips.us-east-1.amazonaws.com', 'foreign'],
  ['https://vpce-1.bedrock-runtime.us-east-1.vpce.amazonaws.com', 'foreign'],
  ['https://aws-external-anthropic.us-east-1.api.aws', 'foreign'],
  ['https://chat.together.ai', 'foreign'],
  ['http://api.openai.com/v1', 'foreign'],
  ['https://api.openai.com:8443/v1', 'foreign'],
  ['api.openai.com', 'foreign'],
  [{}, 'foreign'],
  ['http://127.0.0.1:4141/v1', 'gateway'],
  ['http://localhost:4141/@tgk_9/v1', 'gateway'],
  ['http://[::1]:4141', 'gateway'],
  ['http://127.0.0.1:4142', 'foreign'],
  ['https://127.0.0.1:4141', 'foreign'],
  ['https://corp.example/tollgate/v1', 'gateway'],
  ['https://corp.example/tollgate', 'gateway'],
  ['https://corp.example/litellm/v1', 'foreign'],
  ['https://corp.example/tollgate-2/v1', 'foreign'],
  ['https://corp.example/tollgate/../litellm', 'foreign'],
  [' ', null],
  [undefined, null],
])('%s is of %s', (address, owner) => {
  expect(ownerOf(address)).toBe(owner);
});

test.each([
  [undefined, '/@t/v1'],
  ['https://api.openai.com', '/@t/v1'],
  ['https://api.openai.com/v1/', '/@t/v1'],
  ['https://generativelanguage.googleapis.com/v1beta/openai/', '/@t.gemini/v1beta/openai'],
  ['https://api.deepseek.com', '/@t.deepseek/v1'],
  ['https://api.deepseek.com/beta', '/@t.deepseek/beta'],
  ['http://127.0.0.1:4141', '/@t/v1'],
  ['http://127.0.0.1:4141/@tgk_9.together/v1', '/@t.together/v1'],
  ['http://127.0.0.1:4141/@tgk_9.none/v1', '/@t/v1'],
  ['https://corp.example/tollgate/%40tgk_9.deepseek/beta', '/@t.deepseek/beta'],
  ['https://eu.api.openai.com/v1', null],
])('an address of OpenAI’s clients at %s is led to %s', (address, to) => {
  const led = leadAddress(readAddress(address, GATEWAYS), { provider: 'openai', path: '/v1' });
  expect(led && writeLedAddress('/@t', led)).toBe(to);
});

test('a provider that no path tells is named also where its own address is led', () => {
  const usual = { provider: 'together', path: '' } as const;
  expect(leadAddress(readAddress('https://api.together.xyz', []), usual)).toEqual({ ...usual, named: 'together' });
  expect(leadAddress(null, { provider: 'gemini', path: '' })).toEqual({ provider: 'gemini', path: '', named: null });
});
