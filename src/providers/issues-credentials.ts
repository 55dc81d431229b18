/**
 * Paths whose answers are credentials: short-lived ones for browsers, and keys made by the providers' own
 * administration. Such answers pass like any other, and their bodies are not kept.
 */

/**
 * OpenAI: realtime client secrets and sessions, ChatKit sessions, admin keys and service accounts of the organization
 * (platform.openai.com/docs/api-reference). Gemini: ephemeral tokens (ai.google.dev/gemini-api/docs/ephemeral-tokens).
 * Fireworks and Together: API keys of a user or project.
 */
const ISSUING =
  /\/(?:client_secrets|realtime\/(?:transcription_)?sessions|chatkit\/sessions|admin_api_keys|service_accounts|auth_?tokens|api-?_?keys)(?:[/:]|$)/i;

/** `path` without its query. */
export function issuesCredentials(path: string): boolean {
  return ISSUING.test(path);
}
