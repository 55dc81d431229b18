/**
 * Seals a text, and opens it: each has a data key of its own (AES-256-GCM), which a key of the operator wraps (AES-256-GCM).
 * What the text is bound to is authenticated with both, so a sealed text that is moved elsewhere does not open. No file,
 * no database.
 */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export interface Sealed {
  /** Of the operator's key. */
  readonly keyName: string;
  /** Base64, as `sealed`. */
  readonly wrappedKey: string;
  readonly sealed: string;
}

/** What a text is sealed for, the kind of thing first. */
export type Binding = readonly (string | number)[];

/** Says which key it is without telling anything of it: the key is random. */
export function nameSealingKey(key: Buffer): string {
  return createHash('sha256').update(key).digest('hex').slice(0, 12);
}

/** Null unless the text is 32 bytes in base64. */
export function readSealingKey(text: string): Buffer | null {
  if (!/^[A-Za-z\d+/_-]{43}=?$/.test(text)) return null;
  const key = Buffer.from(text, 'base64');
  return key.length === KEY_BYTES ? key : null;
}

/** Of the setting, the one that seals first. */
export function sealingKeysOf({ keys }: { readonly keys: readonly string[] }): readonly Buffer[] {
  return keys.map(readSealingKey).filter((key) => key !== null);
}

function toBytes(binding: Binding): Buffer {
  return Buffer.from(JSON.stringify(binding));
}

function encrypt(key: Buffer, plain: Buffer, bound: Buffer): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce);
  cipher.setAAD(bound);
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

/** Null when it was sealed otherwise, or was changed. */
function decrypt(key: Buffer, sealed: Buffer, bound: Buffer): Buffer | null {
  if (sealed.length < NONCE_BYTES + TAG_BYTES) return null;
  const decipher = createDecipheriv(CIPHER, key, sealed.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
  decipher.setAAD(bound);
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
  try {
    // No part is left over: this cipher gives all of it at once.
    const plain = decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES));
    decipher.final();
    return plain;
  } catch {
    return null;
  }
}

/** `key` is the operator's. */
export function sealText(key: Buffer, binding: Binding, text: string): Sealed {
  const dataKey = randomBytes(KEY_BYTES);
  const bound = toBytes(binding);
  return {
    keyName: nameSealingKey(key),
    wrappedKey: encrypt(key, dataKey, bound).toString('base64'),
    sealed: encrypt(dataKey, Buffer.from(text), bound).toString('base64'),
  };
}

function unwrap(keys: readonly Buffer[], binding: Binding, stored: Sealed): Buffer | null {
  const key = keys.find((one) => nameSealingKey(one) === stored.keyName);
  return key === undefined ? null : decrypt(key, Buffer.from(stored.wrappedKey, 'base64'), toBytes(binding));
}

/** Null when none of the keys opens it. */
export function openText(keys: readonly Buffer[], binding: Binding, stored: Sealed): string | null {
  const dataKey = unwrap(keys, binding, stored);
  if (dataKey === null) return null;
  return decrypt(dataKey, Buffer.from(stored.sealed, 'base64'), toBytes(binding))?.toString() ?? null;
}

/** Whether one of the keys opens it: for processes that need not know the text, in whose memory nothing of it stays. */
export function canOpenText(keys: readonly Buffer[], binding: Binding, stored: Sealed): boolean {
  const dataKey = unwrap(keys, binding, stored);
  if (dataKey === null) return false;
  const text = decrypt(dataKey, Buffer.from(stored.sealed, 'base64'), toBytes(binding));
  text?.fill(0);
  dataKey.fill(0);
  return text !== null;
}

/** The same data key, wrapped by the first key; null when none of the keys opens it. */
export function rewrapText(keys: readonly Buffer[], binding: Binding, stored: Sealed): Sealed | null {
  const [first] = keys;
  const dataKey = unwrap(keys, binding, stored);
  if (first === undefined || dataKey === null) return null;
  const wrappedKey = encrypt(first, dataKey, toBytes(binding)).toString('base64');
  return { keyName: nameSealingKey(first), wrappedKey, sealed: stored.sealed };
}
