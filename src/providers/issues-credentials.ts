/** Paths whose answers are credentials. The answers pass, but their bodies are not stored. */

/**
 * OpenAI: realtime and ChatKit sessions, admin keys, service accounts (platform.openai.com/docs/api-reference). Gemini:
 * ephemeral tokens (ai.google.dev/gemini-api/docs/ephemeral-tokens). Fireworks, Together: API keys.
 */
const ISSUING =
  /\/(?:client_secrets|realtime\/(?:transcription_)?sessions|chatkit\/sessions|admin_api_keys|service_accounts|auth_?tokens|api-?_?keys)(?:[/:]|$)/i;

export function issuesCredentials(path: string): boolean {
  return ISSUING.test(path);
}
