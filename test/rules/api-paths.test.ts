/**
 * Each provider's current API, by the requests that its own SDK can make: every one is a known endpoint, and what never
 * costs anything by itself is never in a list of what has no price.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PROVIDERS } from '../../src/providers/registry.ts';
import type { ProviderName } from '../../src/vocabulary/call-record.ts';

/** All that may cost something, or is billed when it is done. Everything else is free by itself. */
const BILLED: Readonly<Record<string, readonly string[]>> = {
  openai: [
    '/v1/agents/automations/x/invocations',
    '/v1/agents/sessions',
    '/v1/agents/sessions/x/events',
    '/v1/audio/speech',
    '/v1/audio/transcriptions',
    '/v1/audio/translations',
    '/v1/batches',
    '/v1/chat/completions',
    '/v1/completions',
    '/v1/containers',
    '/v1/content_provenance_checks',
    '/v1/decisions',
    '/v1/embeddings',
    '/v1/evals/x/runs',
    '/v1/fine_tuning/alpha/graders/run',
    '/v1/fine_tuning/jobs',
    '/v1/images/edits',
    '/v1/images/generations',
    '/v1/images/variations',
    '/v1/live/sessions',
    '/v1/live/sessions/x/fork',
    '/v1/realtime/calls',
    '/v1/responses',
    '/v1/responses/compact',
    '/v1/threads/runs',
    '/v1/threads/x/runs',
    '/v1/threads/x/runs/x/submit_tool_outputs',
    '/v1/vector_stores/x/search',
    '/v1/videos',
    '/v1/videos/characters',
    '/v1/videos/edits',
    '/v1/videos/extensions',
    '/v1/videos/x/remix',
  ],
  anthropic: [
    '/v1/deployments/x/run',
    '/v1/dreams',
    '/v1/messages',
    '/v1/messages/batches',
    '/v1/sessions',
    '/v1/sessions/x/events',
  ],
  together: [
    '/v1/audio/speech',
    '/v1/audio/transcriptions',
    '/v1/audio/translations',
    '/v1/batches',
    '/v1/chat/completions',
    '/v1/completions',
    '/v1/compute/clusters',
    '/v1/compute/clusters/storage/volumes',
    '/v1/deployments',
    '/v1/deployments/storage/volumes',
    '/v1/embeddings',
    '/v1/endpoints',
    '/v1/evaluation',
    '/v1/fine-tunes',
    '/v1/images/generations',
    '/v1/projects/x/endpoints/x/deployments',
    '/v1/queue/submit',
    '/v1/rerank',
    '/v1/tci/execute',
    '/v2/videos',
  ],
  gemini: [
    '/upload/v1/fileSearchStores/x:uploadToFileSearchStore',
    '/v1/cachedContents',
    '/v1/fileSearchStores/x:importFile',
    '/v1/interactions',
    '/v1/models/x:asyncBatchEmbedContent',
    '/v1/models/x:batchEmbedContents',
    '/v1/models/x:batchGenerateContent',
    '/v1/models/x:embedContent',
    '/v1/models/x:generateContent',
    '/v1/models/x:predict',
    '/v1/models/x:predictLongRunning',
    '/v1/models/x:streamGenerateContent',
    '/v1/tunedModels/x:generateContent',
    '/v1/tunedModels/x:streamGenerateContent',
  ],
};

function readLines(provider: string): readonly string[] {
  const text = readFileSync(join(import.meta.dirname, '../support/api-paths', `${provider}.txt`), 'utf8');
  return text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
}

function endpointOf(provider: ProviderName, line: string) {
  const [method = '', path = ''] = line.split(' ');
  return PROVIDERS[provider].endpoint({ method, path, query: '', header: () => undefined });
}

test.each<[ProviderName, number]>([
  ['openai', 381],
  ['anthropic', 285],
  ['together', 153],
  ['gemini', 54],
])('of %s all %i requests of its SDK are known, and just those that may cost are billed', (provider, count) => {
  const lines = readLines(provider);
  expect(lines).toHaveLength(count);
  expect(lines.filter((line) => endpointOf(provider, line).family === 'unknown')).toEqual([]);
  const billed = lines.filter((line) => endpointOf(provider, line).billed).map((line) => line.slice('POST '.length));
  expect(billed.toSorted()).toEqual([...(BILLED[provider] ?? [])].toSorted());
});
