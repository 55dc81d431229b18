/**
 * Seals a provider's credential, and opens it: each has a data key of its own (AES-256-GCM), which a key of the operator
 * wraps (AES-256-GCM). Whose it is and where it may be sent is authenticated with both, so a sealed credential that is
 * moved to another account, alias or address does not open. No file, no database.
 */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import type { SealedCredential } from '../vocabulary/channel.ts';

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** What a credential is bound to. */
export type CredentialPlace = Pick<SealedCredential, 'accountId' | 'provider' | 'alias' | 'origin'>;
type Sealed = Pick<SealedCredential, 'keyName' | 'wrappedKey' | 'sealed'>;

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

function bind({ accountId, provider, alias, origin }: CredentialPlace): Buffer {
  return Buffer.from(JSON.stringify(['tollgate credential 1', accountId, provider, alias, origin]));
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
    return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
  } catch {
    return null;
  }
}

/** `key` is the operator's; the results are base64. */
export function sealCredential(key: Buffer, place: CredentialPlace, credential: string): Sealed {
  const dataKey = randomBytes(KEY_BYTES);
  const bound = bind(place);
  return {
    keyName: nameSealingKey(key),
    wrappedKey: encrypt(key, dataKey, bound).toString('base64'),
    sealed: encrypt(dataKey, Buffer.from(credential), bound).toString('base64'),
  };
}

function unwrap(keys: readonly Buffer[], stored: SealedCredential): Buffer | null {
  const key = keys.find((one) => nameSealingKey(one) === stored.keyName);
  return key === undefined ? null : decrypt(key, Buffer.from(stored.wrappedKey, 'base64'), bind(stored));
}

/** Null when none of the keys opens it. */
export function openCredential(keys: readonly Buffer[], stored: SealedCredential): string | null {
  const dataKey = unwrap(keys, stored);
  if (dataKey === null) return null;
  return decrypt(dataKey, Buffer.from(stored.sealed, 'base64'), bind(stored))?.toString() ?? null;
}

/** The same data key, wrapped by the first key; null when none of the keys opens it. */
export function rewrapCredential(keys: readonly Buffer[], stored: SealedCredential): Sealed | null {
  const [first] = keys;
  const dataKey = unwrap(keys, stored);
  if (first === undefined || dataKey === null) return null;
  const wrappedKey = encrypt(first, dataKey, bind(stored)).toString('base64');
  return { keyName: nameSealingKey(first), wrappedKey, sealed: stored.sealed };
}
