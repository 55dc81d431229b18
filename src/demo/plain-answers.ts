/** The demo's answers without a fixture: the model list, and each provider's error for an unknown path. */
import type { ErrorFamily } from '../providers/provider.ts';
import { PROVIDERS, type ProviderName } from '../providers/registry.ts';
import { type DemoRequest, isOfAnother, readModel } from './choose-fixture.ts';
import type { Fixture } from './fixture-store.ts';

export interface PlainAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

const JSON_TYPE = { 'content-type': 'application/json' } as const;
const CREATED = 1795766400;

function errorFamilyOf({ provider, path }: DemoRequest): ErrorFamily {
  return /\/messages(\/|\?|$)/.test(path) ? 'messages' : PROVIDERS[provider].errorFamily;
}

type Fault = 'no_answer' | 'unknown_model' | 'too_large' | 'not_json';

interface FaultNames {
  readonly status: 400 | 404 | 413;
  /** `error.code` of the chat family. */
  readonly code: string | null;
  /** `error.type` of the messages family. */
  readonly type: string;
  /** `error.status` of Google's. */
  readonly word: string;
  /** Of AWS, which has another status for a model that it does not have. */
  readonly exception: string;
  readonly awsStatus?: 400;
}

const FAULTS: Readonly<Record<Fault, FaultNames>> = {
  no_answer: {
    status: 404,
    code: null,
    type: 'not_found_error',
    word: 'NOT_FOUND',
    exception: 'UnknownOperationException',
  },
  unknown_model: {
    status: 404,
    code: 'model_not_found',
    type: 'not_found_error',
    word: 'NOT_FOUND',
    exception: 'ValidationException',
    awsStatus: 400,
  },
  too_large: {
    status: 413,
    code: null,
    type: 'request_too_large',
    word: 'INVALID_ARGUMENT',
    exception: 'ValidationException',
  },
  not_json: {
    status: 400,
    code: null,
    type: 'invalid_request_error',
    word: 'INVALID_ARGUMENT',
    exception: 'SerializationException',
  },
};

/** The provider's form of a refusal. */
export function refusal(request: DemoRequest, fault: Fault, message: string): PlainAnswer {
  const { status, code, type, word, exception, awsStatus } = FAULTS[fault];
  switch (errorFamilyOf(request)) {
    case 'chat':
      return {
        status,
        headers: JSON_TYPE,
        body: { error: { message, type: 'invalid_request_error', param: null, code } },
      };
    case 'messages':
      return { status, headers: JSON_TYPE, body: { type: 'error', error: { type, message } } };
    case 'google':
      return { status, headers: JSON_TYPE, body: { error: { code: status, message, status: word } } };
    case 'aws':
      return {
        status: awsStatus ?? status,
        headers: { ...JSON_TYPE, 'x-amzn-errortype': exception },
        body: { message },
      };
  }
}

export function notFound(request: DemoRequest): PlainAnswer {
  const path = request.path.split('?')[0] ?? '';
  return refusal(request, 'no_answer', `The demo has no answer for ${request.method} ${path}.`);
}

/** Null when the provider may have the model that the request names. */
export function unknownModel(fixtures: readonly Fixture[], request: DemoRequest): PlainAnswer | null {
  const model = readModel(request);
  if (model === null || !isOfAnother(fixtures, request.provider, model)) return null;
  return refusal(request, 'unknown_model', `The model \`${model}\` is not one of ${request.provider}.`);
}

function listModels(fixtures: readonly Fixture[], provider: ProviderName): string[] {
  const models = fixtures
    .filter((fixture) => fixture.provider === provider && fixture.status === 200)
    .flatMap((fixture) => readModel({ path: fixture.path, body: fixture.requestBody }) ?? []);
  return [...new Set(models)].sort();
}

/** Null when this is not a request for the list. */
export function modelList(fixtures: readonly Fixture[], request: DemoRequest): PlainAnswer | null {
  const path = request.path.split('?')[0] ?? '';
  const { errorFamily } = PROVIDERS[request.provider];
  if (request.method !== 'GET' || !/\/models$/.test(path) || errorFamily === 'aws') return null;
  const ids = listModels(fixtures, request.provider);
  const answer = (body: unknown): PlainAnswer => ({ status: 200, headers: JSON_TYPE, body });
  if (errorFamily === 'google') return answer({ models: ids.map((id) => ({ name: `models/${id}` })) });
  if (errorFamily === 'messages') {
    const data = ids.map((id) => ({ type: 'model', id, display_name: id, created_at: '2026-01-01T00:00:00Z' }));
    return answer({ data, has_more: false, first_id: ids[0] ?? null, last_id: ids.at(-1) ?? null });
  }
  return answer({
    object: 'list',
    data: ids.map((id) => ({ id, object: 'model', created: CREATED, owned_by: 'tollgate-demo' })),
  });
}
