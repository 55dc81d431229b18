/**
 * Which format a call speaks: by its endpoint where that says it, else by what the bodies look like (one format is
 * served under many paths, and a body may be all there is).
 */
import type { Format } from './conversation.ts';
import { isRecord, readAnyField, readField, readList, readText } from './json-reading.ts';

const BY_ENDPOINT: Readonly<Record<string, Format>> = {
  'chat.completions': 'chat',
  completions: 'completions',
  responses: 'responses',
  'responses.compact': 'responses',
  'responses.input_tokens': 'responses',
  messages: 'messages',
  'messages.count_tokens': 'messages',
  generateContent: 'generate-content',
  streamGenerateContent: 'generate-content',
  countTokens: 'generate-content',
  converse: 'converse',
  'converse-stream': 'converse',
};

function detectByResponse(response: unknown): Format | null {
  if (Array.isArray(readField(response, 'choices')))
    return readText(response, 'object') === 'text_completion' ? 'completions' : 'chat';
  if (Array.isArray(readField(response, 'candidates'))) return 'generate-content';
  if (readText(response, 'object') === 'response') return 'responses';
  if (readText(response, 'type') === 'message') return 'messages';
  return readField(readField(response, 'output'), 'message') === undefined ? null : 'converse';
}

/** Converse's blocks have no `type`, all others' do. */
function hasUntypedBlocks(body: unknown): boolean {
  return readList(body, 'messages').some((message) => {
    const [block] = readList(message, 'content');
    return isRecord(block) && readText(block, 'type') === null;
  });
}

function detectByRequest(request: unknown): Format | null {
  if (readAnyField(request, 'contents', 'generateContentRequest') !== undefined) return 'generate-content';
  if (readField(readField(request, 'input'), 'converse') !== undefined) return 'converse';
  if (!Array.isArray(readField(request, 'messages'))) return null;
  if (readField(request, 'anthropic_version') !== undefined) return 'messages';
  if (hasUntypedBlocks(request) || readField(request, 'inferenceConfig') !== undefined) return 'converse';
  return readField(request, 'system') === undefined ? 'chat' : 'messages';
}

export function detectFormat(endpoint: string | null, request: unknown, response: unknown): Format | null {
  const known = endpoint !== null && Object.hasOwn(BY_ENDPOINT, endpoint) ? BY_ENDPOINT[endpoint] : undefined;
  return known ?? detectByResponse(response) ?? detectByRequest(request);
}
