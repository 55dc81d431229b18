/** Paths whose answers are credentials or secrets. The answers pass, but their bodies are not stored. */

/**
 * With these a client calls the provider by itself. OpenAI: realtime and ChatKit sessions, admin keys, service accounts
 * (platform.openai.com/docs/api-reference). Gemini: ephemeral tokens (ai.google.dev/gemini-api/docs/ephemeral-tokens).
 * Fireworks, Together: API keys. Anthropic: tokens for a federated identity.
 */
const ISSUING =
  /\/(?:client_secrets|realtime\/(?:transcription_)?sessions|chatkit\/sessions|admin_api_keys|service_accounts|auth_?tokens|api-?_?keys|oauth2?\/token)(?:[/:]|$)/i;

/**
 * Other secrets: what signs webhooks and opens tunnels (OpenAI, Anthropic, Gemini's `:rotateSigningSecret`); links that
 * let in who has them, and a worker's jobs, whose `secret` holds a session's token (Anthropic,
 * platform.claude.com/docs/en/api/beta/environments/work); deployments' secrets and clusters' `kube_config` (Together).
 */
const TELLING =
  /[/:](?:(?:rotate|reveal|regenerate|renew|reset|roll)\w*(?:secret|token|key|credential)s?|enrollment_url|action_urls|environments\/[^/]+\/work(?!\/stats)(?:\/[^/]+)*|deployments\/secrets(?:\/[^/]+)?|compute\/clusters(?:\/[^/]+)?)\/?$/i;
/** Their answers tell the secret only to who makes one. */
const MADE_WITH_SECRET = /\/(?:webhook_endpoints|webhooks|tunnels)\/?$/i;

export function issuesCredentials(path: string): boolean {
  return ISSUING.test(path);
}

/** `issuesCredentials` is part of it. */
export function tellsSecret(method: string, path: string): boolean {
  return ISSUING.test(path) || TELLING.test(path) || (method === 'POST' && MADE_WITH_SECRET.test(path));
}
