/** The path that goes upstream, and the repairs when the provider was named, for each provider that changes paths. */
import { describe, expect, it } from 'vitest';
import { PROVIDERS } from './registry.ts';

const { openai, anthropic, gemini, bedrock, fireworks, together, deepseek } = PROVIDERS;

describe('mapPath', () => {
  it.each([
    [fireworks, '/v1/chat/completions', '/inference/v1/chat/completions'],
    [fireworks, '/v1/messages', '/inference/v1/messages'],
    [fireworks, '/v1/models', '/inference/v1/models'],
    [fireworks, '/inference/v1/chat/completions', '/inference/v1/chat/completions'],
    [fireworks, '/v1/accounts/acme/models', '/v1/accounts/acme/models'],
    [fireworks, '/v1/accountsandmore', '/inference/v1/accountsandmore'],
    [fireworks, '/v1/responses/a%2Fb%20', '/inference/v1/responses/a%2Fb%20'],
    [together, '/v1/chat/completions', '/v1/chat/completions'],
    [together, '/v1/messages', '/v1/messages'],
    [together, '/v2/videos', '/v2/videos'],
    [deepseek, '/v1/messages', '/anthropic/v1/messages'],
    [deepseek, '/v1/messages/count_tokens', '/anthropic/v1/messages/count_tokens'],
    [deepseek, '/anthropic/v1/messages', '/anthropic/v1/messages'],
    [deepseek, '/beta/completions', '/beta/completions'],
    [deepseek, '/chat/completions', '/chat/completions'],
    [deepseek, '/v1/chat/completions', '/v1/chat/completions'],
    [bedrock, '/v1/messages', '/anthropic/v1/messages'],
    [bedrock, '/v1/chat/completions', '/openai/v1/chat/completions'],
    [bedrock, '/v1/responses', '/openai/v1/responses'],
    [bedrock, '/openai/v1/responses', '/openai/v1/responses'],
    [bedrock, '/model/amazon.nova-lite-v1%3A0/converse', '/model/amazon.nova-lite-v1%3A0/converse'],
    [openai, '/v1/files/a%2Fb', '/v1/files/a%2Fb'],
    [anthropic, '/v1/messages', '/v1/messages'],
    [gemini, '/v1beta/models/gemini-2.5-flash:generateContent', '/v1beta/models/gemini-2.5-flash:generateContent'],
  ] as const)('of $name sends %s as %s', (provider, path, upstream) => {
    expect(provider.mapPath(path)).toBe(upstream);
    // A client that uses the upstream's own path gets the same: nothing is mapped twice.
    expect(provider.mapPath(provider.mapPath(path))).toBe(upstream);
  });
});

describe('the path at a host of Bedrock’s', () => {
  const MANTLE = 'bedrock-mantle.us-east-1.api.aws';

  it.each([
    ['/v1/chat/completions', MANTLE, '/v1/chat/completions'],
    ['/v1/responses', MANTLE, '/v1/responses'],
    ['/v1/responses/resp_1/cancel', MANTLE, '/v1/responses/resp_1/cancel'],
    ['/v1/responses', 'vpce-1-a.bedrock-mantle.eu-west-1.vpce.amazonaws.com', '/v1/responses'],
    ['/openai/v1/responses', MANTLE, '/openai/v1/responses'],
    ['/v1/messages', MANTLE, '/anthropic/v1/messages'],
    ['/v1/responses', 'bedrock-runtime.us-east-1.amazonaws.com', '/openai/v1/responses'],
    ['/v1/responses', 'bedrock-mantle.us-east-1.api.aws.evil.example', '/openai/v1/responses'],
    ['/v1/chat/completions', 'relay.internal', '/openai/v1/chat/completions'],
  ])('sends %s to %s as %s', (path, host, upstream) => {
    expect(bedrock.mapPath(path, host)).toBe(upstream);
  });
});

describe('repairPath', () => {
  it.each([
    [fireworks, '/v1/v1/chat/completions', '/v1/chat/completions'],
    [fireworks, '/chat/completions', '/v1/chat/completions'],
    [fireworks, '/inference/v1/v1/messages', '/inference/v1/messages'],
    [fireworks, '/inference/inference/v1/messages', '/inference/v1/messages'],
    [fireworks, '/inference/v1/messages', null],
    [together, '/chat/completions', '/v1/chat/completions'],
    [together, '/messages', '/v1/messages'],
    [together, '/v1/chat/completions', null],
    [deepseek, '/messages', '/v1/messages'],
    [deepseek, '/anthropic/v1/v1/messages', '/anthropic/v1/messages'],
    [deepseek, '/v1/v1/chat/completions', '/v1/chat/completions'],
    [deepseek, '/chat/completions', null],
    [bedrock, '/anthropic/v1/v1/messages', '/anthropic/v1/messages'],
    [bedrock, '/openai/v1/v1/responses', '/openai/v1/responses'],
    [bedrock, '/messages', '/v1/messages'],
    [bedrock, '/model/m/converse', null],
    [openai, '/v1/chat/completions', null],
    [openai, '/unheard/of', null],
    [anthropic, '/v1/messages', null],
    [anthropic, '/messagesandmore', null],
    [gemini, '/v1/models/m:generateContent', null],
    [gemini, '/v1beta/openai/chat/completions', null],
  ] as const)('of $name reads %s as meant for %s', (provider, path, meant) => {
    expect(provider.repairPath(path)).toBe(meant);
  });

  it('is done once: what it returns needs no repair', () => {
    for (const path of ['/v1/v1/messages', '/messages', '/chat/completions', '/v1beta/v1/models/m:countTokens']) {
      for (const provider of Object.values(PROVIDERS)) {
        const meant = provider.repairPath(path);
        if (meant !== null) expect(provider.repairPath(meant)).toBeNull();
      }
    }
  });
});

describe('the region of a Bedrock call', () => {
  const read = (path: string, headers: Readonly<Record<string, string>> = {}) =>
    bedrock.region({ method: 'POST', path, query: '', header: (name) => headers[name] });

  const scope = (region: string) =>
    `AWS4-HMAC-SHA256 Credential=AKIAEXAMPLE/20261127/${region}/bedrock/aws4_request, SignedHeaders=host;x-amz-date, Signature=00`;

  it('is read from the signature, the AWS host or the ARN, in that order', () => {
    const arn =
      '/model/arn%3Aaws%3Abedrock%3Aeu-west-1%3A123456789012%3Aapplication-inference-profile%2Fabc123/converse';
    expect(read(arn)).toBe('eu-west-1');
    expect(read(arn, { host: 'bedrock-runtime.ap-south-1.amazonaws.com' })).toBe('ap-south-1');
    expect(read(arn, { host: 'bedrock-runtime.ap-south-1.amazonaws.com', authorization: scope('us-west-2') })).toBe(
      'us-west-2',
    );
    expect(read('/openai/v1/responses', { host: 'bedrock-mantle.us-gov-west-1.api.aws' })).toBe('us-gov-west-1');
  });

  it('is unknown with a bearer key, and never something that is not a region', () => {
    expect(
      read('/model/amazon.nova-lite-v1%3A0/converse', { authorization: 'Bearer PLACEHOLDER', host: '127.0.0.1:4141' }),
    ).toBeNull();
    expect(read('/model/m/converse', { authorization: scope('evil.example.com#') })).toBeNull();
    expect(read('/model/m/converse', { host: 'bedrock-runtime.us-east-1.amazonaws.com.evil.example' })).toBeNull();
  });

  it('chooses the origin, and only of AWS', () => {
    expect(bedrock.origin('eu-central-1')).toBe('https://bedrock-runtime.eu-central-1.amazonaws.com');
    expect(bedrock.origin('cn-north-1')).toBe('https://bedrock-runtime.cn-north-1.amazonaws.com.cn');
    expect(bedrock.origin('x.evil.example/')).toBe('https://bedrock-runtime.us-east-1.amazonaws.com');
    expect(bedrock.defaultRegion).toBe('us-east-1');
  });
});
