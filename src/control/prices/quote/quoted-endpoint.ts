/** Finds a question's endpoint (`POST /model/{id}/converse`). A batch becomes the fetch of its results. */

import type { UsageFormatName } from '../../../providers/format-names.ts';
import type { Endpoint, RequestLine } from '../../../providers/provider.ts';
import { PROVIDERS } from '../../../providers/registry.ts';
import type { JsonObject } from '../../../vocabulary/token-usage.ts';
import { type NativeQuoteInput, QuoteError } from './quote-input.ts';

export interface QuotedEndpoint {
  readonly endpoint: Endpoint;
  readonly modelRequested: string | null;
  readonly region: string | null;
  readonly isBatchLine: boolean;
}

/** Text in brackets after the path (`(output line)`) is ignored: the usage says the same. */
const QUESTION = /^([A-Za-z]+)\s+(\/[^\s?]*)(?:\?(\S*))?(?:\s+\([^()]*\))?$/;

/** The model's placeholder after one of these segments. */
const MODEL_PLACEHOLDER = /(\/(?:model|models|tunedModels)\/)\{[^{}]*\}/;
const OTHER_PLACEHOLDER = /\{[^{}]*\}/g;
/** A stand-in for the id of a batch, a file or an answer. */
const SOME_ID = 'quoted';

/** By the format of a batch's creation: the request that fetches its results. */
const BATCH_RESULTS: Partial<Readonly<Record<UsageFormatName, (path: string) => string>>> = {
  batches: (path) => `${path}/${SOME_ID}`,
  'message-batch': (path) => `${path}/${SOME_ID}/results`,
  'gemini-batch': (path) => `${path.slice(0, path.indexOf('/', 1))}/batches/${SOME_ID}`,
};

/** A result line has the usage of the requested endpoint. */
function readLinePath(path: string, usage: JsonObject | null): string | null {
  if (usage === null || !('prompt_tokens' in usage)) return null;
  return path.replace(/\/batches$/, 'completion_tokens' in usage ? '/chat/completions' : '/embeddings');
}

export function readQuotedEndpoint(input: NativeQuoteInput): QuotedEndpoint {
  const { provider: providerName, model, usage } = input;
  const provider = PROVIDERS[providerName];
  const [, method = '', rawPath, query = ''] = QUESTION.exec(input.endpoint.trim()) ?? [];
  if (rawPath === undefined)
    throw new QuoteError(
      'endpoint_unknown',
      `endpoint: write method and path, such as "POST /v1/chat/completions", not ${JSON.stringify(input.endpoint.slice(0, 100))}.`,
    );
  const written = writePath(rawPath, model);
  const path = provider.mapPath(provider.repairPath(written) ?? written);
  const line: RequestLine = { method: method.toUpperCase(), path, query, header: () => undefined };
  const asked = provider.endpoint(line);
  if (asked.family === 'unknown')
    throw new QuoteError(
      'endpoint_unknown',
      `endpoint: ${providerName} has no ${line.method} ${rawPath.slice(0, 200)} that the gateway knows; calls to it are recorded without a price.`,
    );
  const modelRequested = asked.model.in === 'path' ? asked.model.name : model;
  const region = provider.region(line) ?? provider.defaultRegion;
  if (!asked.isBatch || line.method !== 'POST') return { endpoint: asked, modelRequested, region, isBatchLine: false };

  const linePath = readLinePath(path, usage);
  if (linePath !== null) {
    const endpoint = { ...provider.endpoint({ ...line, path: linePath }), isBatch: true };
    return { endpoint, modelRequested, region, isBatchLine: true };
  }
  const resultPath = BATCH_RESULTS[asked.format]?.(path);
  if (resultPath === undefined) return { endpoint: asked, modelRequested, region, isBatchLine: true };
  const endpoint = provider.endpoint({ ...line, method: 'GET', path: resultPath });
  return { endpoint, modelRequested, region, isBatchLine: true };
}

function writePath(path: string, model: string | null): string {
  if (MODEL_PLACEHOLDER.test(path) && model === null)
    throw new QuoteError('model_missing', 'model: the path has a place for it, and it is missing.');
  return path
    .replace(
      MODEL_PLACEHOLDER,
      (_, root: string) => root + encodeURIComponent((model ?? '').toWellFormed().replace(/^models\//, '')),
    )
    .replace(OTHER_PLACEHOLDER, SOME_ID);
}
