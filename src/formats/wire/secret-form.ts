/**
 * Recognises credentials by form: provider and gateway keys, tokens, AWS key ids. Each provider's `credentialForm` says
 * whose they are; a test holds that these forms include all of those.
 */

const FORMS = [
  // The most common form, and session keys.
  String.raw`sk-[\w-]{12,}`,
  String.raw`(?:ek|sess)[_-][\w-]{12,}`,
  // Keys with their own prefix; the last are the gateway's: keys, run tokens, read tokens.
  String.raw`fw_\w{12,}`,
  String.raw`tgp_v\d_[\w-]{12,}`,
  String.raw`tg[akmrs]_\w{12,}`,
  // Google's: keys and OAuth.
  String.raw`AIza[\w-]{20,}`,
  String.raw`AQ\.[\w-]{20,}`,
  String.raw`ya29\.[\w.-]{12,}`,
  String.raw`auth_tokens/[\w-]{12,}`,
  // AWS: key ids, and keys without a pair.
  String.raw`(?:AKIA|ASIA)[A-Z\d]{12,}`,
  String.raw`(?:ABSK|AEAA)[\w+/=-]{16,}`,
  String.raw`[a-z-]{3,32}-api-key-[\w+/=-]{12,}`,
  // JSON web tokens.
  String.raw`eyJ[\w-]{8,}\.[\w-]{4,}\.[\w-]*`,
].join('|');
/** Not inside a word: `task-…` is none. */
const FORM = new RegExp(String.raw`(?<![A-Za-z\d])(?:${FORMS})`);
const EACH_FORM = new RegExp(FORM.source, 'g');
/** An older form without a prefix. */
const HEX_KEY = /^[\da-f]{64}$/;

export const HIDDEN = '***';

export function hasSecretForm(text: string): boolean {
  return FORM.test(text) || HEX_KEY.test(text);
}

export function hideSecretForms(text: string): string {
  if (HEX_KEY.test(text)) return HIDDEN;
  return FORM.test(text) ? text.replace(EACH_FORM, HIDDEN) : text;
}

export function listSecretForms(text: string): readonly string[] {
  return HEX_KEY.test(text) ? [text] : (text.match(EACH_FORM) ?? []);
}
