import { describe, expect, test } from 'vitest';
import { GATEWAY_ERRORS } from '../../vocabulary/errors.ts';
import { judgeAttempt } from './attempt-verdict.ts';

const BASE = 'http://127.0.0.1:4141';

function verdict(code: string, path: string): string {
  return judgeAttempt({ atMs: 0, code, status: 401, method: 'POST', path, provider: null, userAgent: null }, BASE);
}

describe('the verdict on a refused attempt', () => {
  test('says which header is missing', () => {
    expect(verdict('key_missing', '/v1/chat/completions')).toBe(
      'It came without a gateway key. Add the header X-Gateway-Key; the provider’s own key stays in its usual place.',
    );
  });

  test('adds what is wrong with the path, when the path is wrong too', () => {
    expect(verdict('key_missing', '/v1/v1/messages')).toContain(
      'Anthropic’s SDKs add it themselves, so set the base address to http://127.0.0.1:4141.',
    );
    expect(verdict('key_unknown', '/v1/v1/chat/completions')).toContain(
      'set the base address to http://127.0.0.1:4141/v1.',
    );
  });

  test('tells a browser from a client', () => {
    expect(verdict('key_missing', '/')).toContain('A browser or a health check, not a model call.');
    expect(verdict('key_missing', '/api/v1/logs')).toContain('the dashboard and its API are on the admin port');
  });

  test('says what a base address with a provider’s folder should be', () => {
    expect(verdict('provider_required', '/anthropic/v1/messages')).toContain('There are no folders by provider here');
    expect(verdict('provider_required', '/beta/x')).toBe(
      'The path /beta/x does not tell which provider is meant. Add the header X-Gateway-Provider, or check the base address: http://127.0.0.1:4141/v1 for OpenAI-style clients, http://127.0.0.1:4141 for Anthropic’s and Google’s.',
    );
  });

  test('has something to say for every refusal of the gateway, and nothing for a code that it does not know', () => {
    for (const code of Object.keys(GATEWAY_ERRORS)) expect(verdict(code, '/v1/x')).toMatch(/^[A-Z].*\.$/);
    expect(verdict('toString', '/v1/x')).toBe('');
  });
});
