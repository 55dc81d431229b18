import { afterAll, beforeAll, expect, test } from 'vitest';
import { install, uninstall } from './index.ts';
import { lead } from './lead.ts';
import { readSettings } from './settings.ts';

beforeAll(() => install({ url: 'http://127.0.0.1:9/llm/', key: 'tgk_test' }));
afterAll(uninstall);

function leadTo(address: string, headers: Readonly<Record<string, string>> = {}) {
  const url = new URL(address);
  return lead({ origin: new URL(url.origin), target: `${url.pathname}${url.search}`, header: (name) => headers[name] });
}

test('a known host is led, with the provider’s name', () => {
  expect(leadTo('https://api.together.xyz/v1/x?a=b%2F')).toEqual({
    origin: 'http://127.0.0.1:9',
    target: '/llm/v1/x?a=b%2F',
    headers: { 'X-Gateway-Key': 'tgk_test', 'X-Gateway-Provider': 'together' },
    host: null,
    isElsewhere: true,
  });
});

test('what is beside the gateway at its host is a stranger', () => {
  for (const path of ['/llm/v1/x', '/llm', '/llm?a=b', '/llm/@tgr_x/v1/x'])
    expect(leadTo(`http://127.0.0.1:9${path}`), path).not.toBeNull();
  expect(leadTo('http://127.0.0.1:9/llm/@tgr_x/v1/x')?.headers).toEqual({});
  for (const path of ['/v2/x', '/llmx/v1/x', '/x/llm/v1/x', '/x?/llm/'])
    expect(leadTo(`http://127.0.0.1:9${path}`), path).toBeNull();
  const origin = new URL('http://127.0.0.1:9');
  for (const target of ['/llm/../x', '/llm/%2e%2E/x', '/llm/..'])
    expect(lead({ origin, target, header: () => undefined }), target).toBeNull();
});

test('AWS keeps its host, and its other hosts are led with a signature only', () => {
  expect(leadTo('https://bedrock-runtime.eu-west-1.amazonaws.com/model/m/converse')?.host).toBe(
    'bedrock-runtime.eu-west-1.amazonaws.com',
  );
  expect(leadTo('https://bedrock-mantle.eu-west-1.api.aws/v1/x')).toBeNull();
  const signed = { authorization: 'AWS4-HMAC-SHA256 Credential=x' };
  expect(leadTo('https://bedrock-mantle.eu-west-1.api.aws/v1/x', signed)?.headers['X-Gateway-Provider']).toBe(
    'bedrock',
  );
});

test('what an SDK reports about itself is not led', () => {
  expect(leadTo('https://api.openai.com/v1/traces/ingest')).toBeNull();
});

test('every region of Bedrock is led; other regions and resellers of a provider, which may hold their own, are not', () => {
  for (const region of ['us-east-1', 'eu-central-1', 'ap-southeast-2', 'us-gov-west-1', 'ca-west-1', 'mx-central-1']) {
    const led = leadTo(`https://bedrock-runtime.${region}.amazonaws.com/model/m/converse`);
    expect(led?.host, region).toBe(`bedrock-runtime.${region}.amazonaws.com`);
    expect(led?.headers['X-Gateway-Provider']).toBe('bedrock');
  }
  const others = [
    'eu.api.openai.com',
    'mine.openai.azure.com',
    'mine.services.ai.azure.com',
    'us-central1-aiplatform.googleapis.com',
    'bedrock-runtime.us-east-1.amazonaws.com.evil.com',
    'bedrock-runtime.us-east-1.evil.amazonaws.com',
    'bedrock.us-east-1.amazonaws.com',
    'api.openai.com.',
  ];
  for (const host of others) expect(leadTo(`https://${host}/v1/chat/completions`), host).toBeNull();
});

/** A property: of hosts made from pieces of the known ones, only the known ones themselves are led. */
test('no unknown host is led, whatever it is', () => {
  const known = [
    'api.openai.com',
    'api.anthropic.com',
    'generativelanguage.googleapis.com',
    'api.together.ai',
    'api.together.xyz',
    'api.fireworks.ai',
    'api.deepseek.com',
    'bedrock-runtime.us-east-1.amazonaws.com',
  ];
  const labels = [
    ...new Set(known.flatMap((host) => host.split('.'))),
    'evil',
    'eu',
    'azure',
    'constructor',
    '__proto__',
  ];
  let seed = 19;
  const pick = (below: number) => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % below;
  };
  let led = 0;
  for (let made = 0; made < 4_000; made += 1) {
    const whole = known[pick(known.length)] ?? '';
    const pieces = Array.from({ length: 1 + pick(5) }, () => labels[pick(labels.length)]).join('.');
    const cut = pick(whole.length);
    const broken = `${whole.slice(0, cut)}${'abz019.-'[pick(8)]}${whole.slice(cut)}`;
    const host = [whole, pieces, broken][pick(3)] ?? '';
    const address = `${['https', 'http'][pick(2)]}://${host}${['', ':443', ':8443', ':80'][pick(4)]}/v1/x`;
    if (!URL.canParse(address)) continue;
    const { protocol, port, hostname } = new URL(address);
    const isKnown = protocol === 'https:' && port === '' && known.includes(hostname);
    expect(leadTo(address) !== null, address).toBe(isKnown);
    led += isKnown ? 1 : 0;
  }
  expect(led).toBeGreaterThan(20);
});

test('what is no address or no key is refused, without repeating it', () => {
  for (const url of ['127.0.0.1:4141', 'ftp://a', 'http://user:secret@a', 'http://a/?k=secret']) {
    expect(() => readSettings({ url, key: 'tgk_a' })).toThrow(/^TOLLGATE_URL must be the address(?!.*secret)/);
  }
  expect(() => readSettings({ url: 'http://a', key: 'tgk_secret\nX: 1' })).toThrow(/^TOLLGATE_KEY is not(?!.*secret)/);
  expect(readSettings({ url: 'http://a/@tgr_x', key: '' }).key).toBeNull();
});
