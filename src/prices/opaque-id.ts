/**
 * Ids that name a thing of the operator's own (a profile, a fine-tune, a deployment) and not the model behind it: only
 * the operator can say what they are billed as. By the forms that the providers document; nothing is looked up.
 */
import type { ProviderName } from '../call-record.ts';

/**
 * Bedrock: ARNs of application profiles, custom, imported and provisioned models, prompt routers. OpenAI: fine-tunes
 * (`ft:base:organisation:name:id`). Gemini: tuned models. Fireworks: deployments, and models of accounts but its own.
 */
const OPAQUE: Readonly<Partial<Record<ProviderName, RegExp>>> = {
  bedrock: /^arn:/i,
  openai: /^ft:/i,
  gemini: /^tunedModels\//i,
  fireworks: /#|\/deployments\/|^accounts\/(?!fireworks\/)/i,
};

export function isOpaqueId(provider: ProviderName, model: string): boolean {
  return OPAQUE[provider]?.test(model) ?? false;
}
