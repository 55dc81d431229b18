/** How each client is pointed at the gateway: texts to copy. Placeholder until the full list is here. */

export interface SnippetSettings {
  /** Base address without a path. */
  readonly baseUrl: string;
  /** The key, or the name of the variable that holds it. */
  readonly keyPlaceholder: string;
  readonly withMetadata: boolean;
  readonly withRun: boolean;
}

export interface Snippet {
  readonly id: string;
  readonly label: string;
  readonly language: string;
  readonly filename: string;
  readonly code: string;
  readonly pitfall: string | null;
}

export function listSnippets({ baseUrl, keyPlaceholder }: SnippetSettings): readonly Snippet[] {
  const code = `curl ${baseUrl}/v1/models -H "X-Gateway-Key: ${keyPlaceholder}"`;
  return [{ id: 'curl', label: 'curl', language: 'sh', filename: 'terminal', code, pitfall: null }];
}
