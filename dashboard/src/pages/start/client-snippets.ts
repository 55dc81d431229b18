/** How each client is pointed at the gateway: texts to copy, in the order in which they are offered. Pure. */
import { listNodeSnippets } from './node-snippets.ts';
import { listPythonSnippets } from './python-snippets.ts';
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

export function listSnippets(settings: SnippetSettings): readonly Snippet[] {
  const all = [...listShellSnippets(settings), ...listPythonSnippets(settings), ...listNodeSnippets(settings)];
  return all.sort((a, b) => ORDER.indexOf(a.id) - ORDER.indexOf(b.id));
}
