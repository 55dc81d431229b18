/**
 * Cursors for who sees some rows only in part: the API's say where a page ends, and with it the time and the sums of a row.
 * Sealed, they say nothing; what was sealed with another key, or changed, does not open.
 */
import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export interface CursorSeal {
  readonly seal: (cursor: string) => string;
  /** Null for what this has not sealed. */
  readonly open: (sealed: string) => string | null;
}

/** Cursors hold as long as the secret does, on every node that has it. */
export function createCursorSeal(secret: string): CursorSeal {
  const key = createHmac('sha256', secret).update('tollgate cursor of a read token, version 1').digest();
  return {
    seal: (cursor) => {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, key, nonce);
      const sealed = Buffer.concat([cipher.update(cursor, 'utf8'), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url');
    },
    open: (text) => {
      const bytes = Buffer.from(text, 'base64url');
      if (bytes.length <= NONCE_BYTES + TAG_BYTES) return null;
      const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
      decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
      try {
        return decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
      } catch {
        return null;
      }
    },
  };
}
