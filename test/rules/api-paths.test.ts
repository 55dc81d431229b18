/**
 * Each provider's current API, by the requests that its own SDK can make: every one is a known endpoint, and what never
 * costs anything by itself is never in a list of what has no price.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tellsSecret } from '../../src/providers/issues-credentials.ts';
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

/** A path that may tell a secret, by its words. */
const SUSPICIOUS =
  /secret|token|[_-]key|credential|webhook|tunnel|password|certificate|service_account|enroll|invite|client_|\/work\b|clusters\b|(?:realtime|chatkit)\/\w*sessions/;

/** What they answer with is none: names, states, counts, public halves, or what is told elsewhere and masked here. */
const NO_SECRETS: Readonly<Record<string, readonly RegExp[]>> = {
  openai: [
    /^\S+ \/v1\/organization\/(?:projects\/x\/)?certificates/,
    /^\S+ \/v1\/organization\/external_keys/,
    /^\S+ \/v1\/organization\/invites/,
    /^\S+ \/v1\/responses\/input_tokens$/,
    /^\S+ \/v1\/vaults\/x\/credentials/,
    /^(?:GET|DELETE|POST) \/v1\/webhook_endpoints\/x(?:\/test)?$/,
    /^GET \/v1\/webhook_e(?:ndpoints|vent_types)$/,
  ],
  anthropic: [
    /^POST \/v1\/messages\/count_tokens$/,
    /^\S+ \/v1\/organizations\/external_keys/,
    /^\S+ \/v1\/organizations\/invites/,
    /^GET \/v1\/environments\/x\/work\/stats$/,
    /^GET \/v1\/(?:organizations\/webhooks|tunnels)$/,
    /^\S+ \/v1\/organizations\/webhooks\/x$/,
    /^\S+ \/v1\/tunnels\/x(?:\/archive|\/certificates\S*)?$/,
    /^\S+ \/v1\/vaults\/x\/credentials/,
  ],
  together: [
    /^GET \/v1\/clusters\/availability-zones$/,
    /^\S+ \/v1\/compute\/clusters\/(?:storage|x\/instances)\//,
    /^GET \/v1\/fine-tunes\/x\/download-tokenized-dataset$/,
  ],
  gemini: [/^POST \/v1\/models\/x:countTokens$/],
};

test.each(['openai', 'anthropic', 'together', 'gemini'])(
  'of %s every answer that tells a secret is kept out of the log, and no other one that sounds so',
  (provider) => {
    const lines = readLines(provider).filter((line) => SUSPICIOUS.test(line));
    const named = (line: string) => (NO_SECRETS[provider] ?? []).some((known) => known.test(line));
    const told = (line: string) => {
      const [method = '', path = ''] = line.split(' ');
      return tellsSecret(method, path);
    };
    expect(lines.filter(told).length).toBeGreaterThan(0);
    expect(lines.filter((line) => told(line) === named(line))).toEqual([]);
  },
);

test.each([
  ['POST', '/v1/webhook_endpoints/we_1/rotate_secret', true],
  ['POST', '/v1/webhook_endpoints', true],
  ['POST', '/v1/webhook_endpoints/', true],
  ['GET', '/v1/webhook_endpoints', false],
  ['POST', '/v1/organizations/webhooks/wh_1/regenerate_signing_secret', true],
  ['POST', '/v1/organizations/webhooks', true],
  ['POST', '/v1/tunnels', true],
  ['POST', '/v1/tunnels/t_1/reveal_token', true],
  ['POST', '/v1/tunnels/t_1/rotate_token', true],
  ['POST', '/v1beta/webhooks/w1:rotateSigningSecret', true],
  ['GET', '/v1/environments/env_1/work/poll', true],
  ['GET', '/v1/compute/clusters/c1', true],
  ['POST', '/v1/oauth/token', true],
  ['POST', '/v1/responses/input_tokens', false],
  ['POST', '/v1/messages/count_tokens', false],
  ['POST', '/v1/chat/completions', false],
])('the answer of %s %s tells a secret: %s', (method, path, isSecret) => {
  expect(tellsSecret(method, path)).toBe(isSecret);
});
