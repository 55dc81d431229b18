/** Which names of headers and query parameters carry a secret. Names only: what a secret looks like is not asked. */

const SECRET_NAME = /(?:key|token|secret|password|signature|credential|auth|authorization|jwt|cookie|^sig)(?:\[.*)?$/i;

export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name);
}

/** A parameter's name as the provider reads it, decoded. */
export function decodeParameterName(name: string): string {
  if (!/[%+]/.test(name)) return name;
  return name
    .replaceAll('+', ' ')
    .replace(/%([\da-f]{2})/gi, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)))
    .trim();
}
