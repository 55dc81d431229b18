/**
 * What credentials look like wherever they stand in a text: keys of providers and of this gateway, tokens, and AWS's key
 * ids. Asked where no name says what a text is; a text of no known form is no credential here. Whose a credential is,
 * `credentialForm` of each provider says, by how it begins; a test holds that these here take in all of those.
 */

const FORMS = [
  // The most common form, and keys for a session.
  String.raw`sk-[\w-]{12,}`,
  String.raw`(?:ek|sess)[_-][\w-]{12,}`,
  // With a prefix of their own; the last is the gateway's.
  String.raw`fw_\w{12,}`,
  String.raw`tgp_v\d_[\w-]{12,}`,
  String.raw`tgk_\w{12,}`,
  // Google's: keys and OAuth.
  String.raw`AIza[\w-]{20,}`,
  String.raw`AQ\.[\w-]{20,}`,
  String.raw`ya29\.[\w.-]{12,}`,
  String.raw`auth_tokens/[\w-]{12,}`,
  // AWS's: ids, and keys that are no pair.
  String.raw`(?:AKIA|ASIA)[A-Z\d]{12,}`,
  String.raw`(?:ABSK|AEAA)[\w+/=-]{16,}`,
  String.raw`[a-z-]{3,32}-api-key-[\w+/=-]{12,}`,
  // JSON web tokens.
  String.raw`eyJ[\w-]{8,}\.[\w-]{4,}\.[\w-]*`,
].join('|');
/** Not within a word: `task-…` is none. */
const FORM = new RegExp(String.raw`(?<![A-Za-z\d])(?:${FORMS})`);
const EACH_FORM = new RegExp(FORM.source, 'g');
/** An older form: nothing else in it tells. */
const HEX_KEY = /^[\da-f]{64}$/;

export const HIDDEN = '***';

export function hasSecretForm(text: string): boolean {
  return FORM.test(text) || HEX_KEY.test(text);
}

/** The same text when nothing in it looks like a credential. */
export function hideSecretForms(text: string): string {
  if (HEX_KEY.test(text)) return HIDDEN;
  return FORM.test(text) ? text.replace(EACH_FORM, HIDDEN) : text;
}

export function listSecretForms(text: string): readonly string[] {
  return HEX_KEY.test(text) ? [text] : (text.match(EACH_FORM) ?? []);
}
