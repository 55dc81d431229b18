/** How each client is pointed at the gateway: texts to copy, in the order in which they are offered. Pure. */
import { PROVIDERS } from '../../../../src/providers/registry.ts';
import { fillTemplate } from './fill-template.ts';
import { LIBRARY_SNIPPETS } from './library-snippets.ts';
import { listShellSnippets } from './shell-snippets.ts';
import type { Snippet, SnippetSettings } from './snippet-words.ts';

const ORDER: readonly string[] = [
  'environment',
  'openai-python',
  'openai-node',
  'anthropic-python',
  'anthropic-node',
  'gemini-python',
  'gemini-node',
  'curl',
  'ai-sdk',
  'langchain-js',
  'langchain-python',
  'claude-code',
  'codex',
  'gemini-cli',
  'bedrock-boto3',
  'bedrock-js',
];

/** What is not in the order comes last: the SDK of a provider that was added. */
function placeOf({ id }: Snippet): number {
  const place = ORDER.indexOf(id);
  return place === -1 ? ORDER.length : place;
}

export function listSnippets(settings: SnippetSettings): readonly Snippet[] {
  const templates = [...Object.values(PROVIDERS).flatMap(({ snippets = [] }) => snippets), ...LIBRARY_SNIPPETS];
  const programs = templates.map((template) => fillTemplate(template, settings));
  return [...listShellSnippets(settings), ...programs].sort((a, b) => placeOf(a) - placeOf(b));
}
