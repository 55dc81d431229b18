/** The demo's answers that need no fixture: the list of models, and each provider's own way to say "no such path". */
import type { ProviderName } from '../call-record.ts';
import { type DemoRequest, readModel } from './choose-fixture.ts';
import type { Fixture } from './fixture-store.ts';

export interface PlainAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

type ErrorShape = 'openai' | 'anthropic' | 'gemini' | 'bedrock';

const JSON_TYPE = { 'content-type': 'application/json' } as const;
const CREATED = 1795766400;

function errorShapeOf({ provider, path }: DemoRequest): ErrorShape {
  if (/\/messages(\/|\?|$)/.test(path)) return 'anthropic';
  switch (provider) {
    case 'anthropic':
    case 'gemini':
    case 'bedrock':
      return provider;
    case 'openai':
    case 'fireworks':
    case 'together':
    case 'deepseek':
      return 'openai';
  }
}

interface Refusal {
  readonly status: 404 | 413;
  readonly message: string;
}

export function refusal(request: DemoRequest, { status, message }: Refusal): PlainAnswer {
  const isMissing = status === 404;
  switch (errorShapeOf(request)) {
    case 'openai':
      return {
        status,
        headers: JSON_TYPE,
        body: { error: { message, type: 'invalid_request_error', param: null, code: null } },
      };
    case 'anthropic':
      return {
        status,
        headers: JSON_TYPE,
        body: { type: 'error', error: { type: isMissing ? 'not_found_error' : 'request_too_large', message } },
      };
    case 'gemini':
      return {
        status,
        headers: JSON_TYPE,
        body: { error: { code: status, message, status: isMissing ? 'NOT_FOUND' : 'INVALID_ARGUMENT' } },
      };
    case 'bedrock': {
      const name = isMissing ? 'UnknownOperationException' : 'ValidationException';
      return { status, headers: { ...JSON_TYPE, 'x-amzn-errortype': name }, body: { message } };
    }
  }
}

export function notFound(request: DemoRequest): PlainAnswer {
  const path = request.path.split('?')[0] ?? '';
  return refusal(request, { status: 404, message: `The demo has no answer for ${request.method} ${path}.` });
}

function listModels(fixtures: readonly Fixture[], provider: ProviderName): string[] {
  const models = fixtures
    .filter((fixture) => fixture.provider === provider && fixture.status === 200)
    .flatMap((fixture) => readModel({ path: fixture.path, body: fixture.requestBody }) ?? []);
  return [...new Set(models)].sort();
}

/** The list of models in the provider's shape, or null when this is not a request for it. */
export function modelList(fixtures: readonly Fixture[], request: DemoRequest): PlainAnswer | null {
  const path = request.path.split('?')[0] ?? '';
  if (request.method !== 'GET' || !/\/models$/.test(path) || request.provider === 'bedrock') return null;
  const ids = listModels(fixtures, request.provider);
  const answer = (body: unknown): PlainAnswer => ({ status: 200, headers: JSON_TYPE, body });
  if (request.provider === 'gemini') return answer({ models: ids.map((id) => ({ name: `models/${id}` })) });
  if (request.provider === 'anthropic') {
    const data = ids.map((id) => ({ type: 'model', id, display_name: id, created_at: '2026-01-01T00:00:00Z' }));
    return answer({ data, has_more: false, first_id: ids[0] ?? null, last_id: ids.at(-1) ?? null });
  }
  return answer({
    object: 'list',
    data: ids.map((id) => ({ id, object: 'model', created: CREATED, owned_by: 'tollgate-demo' })),
  });
}
