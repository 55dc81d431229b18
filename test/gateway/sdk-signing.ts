/** An upstream with credentials, in the whole gateway: the settings reach the proxy, and no secret comes out anywhere. */
import { BedrockRuntimeClient, ConverseCommand } from '@aws-sdk/client-bedrock-runtime';
import { describe, expect, test } from 'vitest';
import { checkSignature } from '../support/verify-signature.ts';
import { answerFixture, readHeader, type SdkComparison, SIGNING_SECRET } from './sdk-comparison.ts';

export function testSigning(started: () => SdkComparison): void {
  describe('@aws-sdk/client-bedrock-runtime with placeholder credentials', () => {
    test('the gateway signs, over the SDK’s own HTTP/2, and shows its credentials nowhere', async () => {
      const { gateway, provider } = started();
      provider.setAnswer(() => answerFixture('bedrock/converse'));
      const client = new BedrockRuntimeClient({
        region: 'us-east-1',
        endpoint: gateway.base,
        maxAttempts: 1,
        credentials: { accessKeyId: 'AKIAPLACEHOLDER00000', secretAccessKey: 'placeholder' },
      });
      const headers = { 'X-Gateway-Key': gateway.key, 'X-Gateway-Provider-Alias': 'signed' };
      let id = '';
      client.middlewareStack.add(
        (next) => async (args) => {
          const { request } = args;
          if (typeof request === 'object' && request !== null && 'headers' in request) {
            Object.assign(Object(request.headers), headers);
          }
          const result = await next(args);
          id = readHeader(Object.entries(Object(result.response).headers), 'x-gateway-request-id') ?? '';
          return result;
        },
        { step: 'build', name: 'gatewayHeaders' },
      );
      const answer = await client.send(
        new ConverseCommand({ modelId: 'm', messages: [{ role: 'user', content: [{ text: 'Hi' }] }] }),
      );
      client.destroy();
      expect(answer.usage?.outputTokens).toBe(26);
      const arrived = provider.requests.at(-1);
      if (arrived === undefined) throw new Error('nothing arrived');
      const { method, target, rawHeaders } = arrived;
      expect(checkSignature({ method, target, rawHeaders, body: arrived.body() }, SIGNING_SECRET)).toMatchObject({
        isValid: true,
        accessKeyId: 'AKIAGATEWAY000000000',
        region: 'eu-west-1',
        service: 'bedrock',
      });
      expect(await gateway.waitForLog(id)).toMatchObject({ provider_alias: 'signed', region: 'eu-west-1' });
      const shown = JSON.stringify(await gateway.api('/api/v1/status'));
      expect(shown).toContain('TOLLGATE_AWS_BEDROCK_SIGNED_SECRET_ACCESS_KEY');
      for (const text of [shown, gateway.output(), JSON.stringify(await gateway.api(`/api/v1/logs/${id}`))])
        expect(text).not.toMatch(/a-secret-of-the-gateways|AKIAGATEWAY|AKIAPLACEHOLDER|Signature=/);
    });
  });
}
