/** The error bodies of each provider, in its own form. */
import type { ProviderName } from '../../vocabulary/call-record.ts';

export type DemoFailure = 'rate_limit' | 'overloaded' | 'server_error' | 'too_long';

export interface WrittenFailure {
  readonly status: number;
  readonly body: object;
  readonly headers: readonly (readonly [string, string])[];
}

interface FailureRow {
  readonly status: number;
  readonly message: string;
  readonly openai: string;
  readonly anthropic: string;
  readonly gemini: string;
  readonly bedrock: string;
}

const FAILURES: Readonly<Record<DemoFailure, FailureRow>> = {
  rate_limit: {
    status: 429,
    message: 'Rate limit reached for tokens per minute: limit 200000, used 198412, requested 4210. Try again in 8s.',
    openai: 'tokens',
    anthropic: 'rate_limit_error',
    gemini: 'RESOURCE_EXHAUSTED',
    bedrock: 'ThrottlingException',
  },
  overloaded: {
    status: 503,
    message: 'The service is overloaded at the moment. Please try again later.',
    openai: 'service_unavailable_error',
    anthropic: 'overloaded_error',
    gemini: 'UNAVAILABLE',
    bedrock: 'ServiceUnavailableException',
  },
  server_error: {
    status: 500,
    message: 'The server had an error while processing your request.',
    openai: 'server_error',
    anthropic: 'api_error',
    gemini: 'INTERNAL',
    bedrock: 'InternalServerException',
  },
  too_long: {
    status: 400,
    message: 'The input is too long: 214388 tokens were sent, and this model takes at most 200000.',
    openai: 'invalid_request_error',
    anthropic: 'invalid_request_error',
    gemini: 'INVALID_ARGUMENT',
    bedrock: 'ValidationException',
  },
};
const ANTHROPIC_OVERLOADED = 529;

export function writeFailure(provider: ProviderName, failure: DemoFailure): WrittenFailure {
  const { status, message, ...names } = FAILURES[failure];
  const headers: readonly (readonly [string, string])[] = failure === 'rate_limit' ? [['retry-after', '8']] : [];
  switch (provider) {
    case 'anthropic':
      return {
        status: failure === 'overloaded' ? ANTHROPIC_OVERLOADED : status,
        body: { type: 'error', error: { type: names.anthropic, message } },
        headers,
      };
    case 'gemini':
      return { status, body: { error: { code: status, message, status: names.gemini } }, headers };
    case 'bedrock':
      return { status, body: { message }, headers: [['x-amzn-errortype', `${names.bedrock}:demo`], ...headers] };
    default:
      return { status, body: { error: { message, type: names.openai, param: null, code: failure } }, headers };
  }
}
