/** Which names of headers and query parameters carry a secret. Names only: what a secret looks like is not asked. */

const SECRET_NAME =
  /(?:key|token|secret|password|passwd|passphrase|passcode|pwd|signature|credentials?|assertion|auth|authorization|bearer|jwt|cookie|^sig|^code|^pass)(?:\[.*)?$/i;

export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name);
}

/** A parameter's name as the provider reads it, decoded. */
export function decodeParameterName(name: string): string {
  if (!/[%+]/.test(name)) return name;
  return decodePercent(name.replaceAll('+', ' ')).trim();
}

/** A byte becomes a character of Latin-1. */
export function decodePercent(text: string): string {
  if (!text.includes('%')) return text;
  return text.replace(/%([\da-f]{2})/gi, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
}
