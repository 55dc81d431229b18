/** What each provider answers when it refuses: the body of an error, in the provider's own form. Plain data. */
import type { ProviderName } from '../call-record.ts';
import type { JsonObject } from '../token-usage.ts';

export type DemoFailure = 'rate_limit' | 'overloaded' | 'server_error' | 'too_long';

export interface WrittenFailure {
  readonly status: number;
  readonly body: JsonObject;
  readonly headers: readonly (readonly [string, string])[];
}

const MESSAGES: Readonly<Record<DemoFailure, string>> = {
  rate_limit: 'Rate limit reached for tokens per minute: limit 200000, used 198412, requested 4210. Try again in 8s.',
  overloaded: 'The service is overloaded at the moment. Please try again later.',
  server_error: 'The server had an error while processing your request.',
  too_long: 'The input is too long: 214388 tokens were sent, and this model takes at most 200000.',
};

const STATUSES: Readonly<Record<DemoFailure, number>> = {
  rate_limit: 429,
  overloaded: 503,
  server_error: 500,
  too_long: 400,
};

const ANTHROPIC_TYPES: Readonly<Record<DemoFailure, string>> = {
  rate_limit: 'rate_limit_error',
  overloaded: 'overloaded_error',
  server_error: 'api_error',
  too_long: 'invalid_request_error',
};

const OPENAI_TYPES: Readonly<Record<DemoFailure, string>> = {
  rate_limit: 'tokens',
  overloaded: 'service_unavailable_error',
  server_error: 'server_error',
  too_long: 'invalid_request_error',
};

const GEMINI_STATUSES: Readonly<Record<DemoFailure, string>> = {
  rate_limit: 'RESOURCE_EXHAUSTED',
  overloaded: 'UNAVAILABLE',
  server_error: 'INTERNAL',
  too_long: 'INVALID_ARGUMENT',
};

const BEDROCK_TYPES: Readonly<Record<DemoFailure, string>> = {
  rate_limit: 'ThrottlingException',
  overloaded: 'ServiceUnavailableException',
  server_error: 'InternalServerException',
  too_long: 'ValidationException',
};

export function writeFailure(provider: ProviderName, failure: DemoFailure): WrittenFailure {
  const message = MESSAGES[failure];
  const status = STATUSES[failure];
  const wait: readonly (readonly [string, string])[] = failure === 'rate_limit' ? [['retry-after', '8']] : [];
  switch (provider) {
    case 'anthropic':
      return {
        // Overload has a status of its own here.
        status: failure === 'overloaded' ? 529 : status,
        body: { type: 'error', error: { type: ANTHROPIC_TYPES[failure], message } },
        headers: wait,
      };
    case 'gemini':
      return { status, body: { error: { code: status, message, status: GEMINI_STATUSES[failure] } }, headers: wait };
    case 'bedrock':
      return { status, body: { message }, headers: [['x-amzn-errortype', `${BEDROCK_TYPES[failure]}:demo`], ...wait] };
    default:
      return {
        status,
        body: { error: { message, type: OPENAI_TYPES[failure], param: null, code: failure } },
        headers: wait,
      };
  }
}
