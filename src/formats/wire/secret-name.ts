/** Names of headers and query parameters that carry a secret. */

const SECRET_NAME =
  /(?:key|token|secret|password|passwd|passphrase|passcode|pwd|signature|credentials?|assertion|auth|authorization|bearer|jwt|hmac|cookie|^sig|^sid|^session|^code|^pass)(?:\[.*)?$/i;

export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name);
}

/** The decoded name, as the provider reads it. */
export function decodeParameterName(name: string): string {
  if (!/[%+]/.test(name)) return name;
  return decodePercent(name.replaceAll('+', ' ')).trim();
}

/** Each byte becomes a Latin-1 character. */
export function decodePercent(text: string): string {
  if (!text.includes('%')) return text;
  return text.replace(/%([\da-f]{2})/gi, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
}
