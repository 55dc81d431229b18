/**
 * The gateway's own keys: how one is made, recognised without a look-up, and turned into what is stored. A key has
 * 256 bits of entropy, so a plain SHA-256 is enough: there is nothing to guess, and a look-up must cost microseconds.
 * Not here: which keys exist (`key-snapshot.ts`, `store/gateway-keys.ts`).
 */
import { hash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

/** Fixed, so that secret scanners recognise a leaked key. */
const PREFIX = 'tgk_';
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const SECRET_BYTES = 32;
/** 62^43 is the first power of 62 above 2^256. */
const SECRET_CHARS = 43;
/** 62^6 is above 2^32: room for a CRC-32. */
const CHECKSUM_CHARS = 6;
const SHAPE = /^tgk_([0-9A-Za-z]{43})([0-9A-Za-z]{6})$/;

function encodeBase62(value: bigint, length: number): string {
  let rest = value;
  let text = '';
  while (text.length < length) {
    text = ALPHABET.charAt(Number(rest % 62n)) + text;
    rest /= 62n;
  }
  return text;
}

/** Plain numbers: this is done for every call. */
function checksumOf(secret: string): string {
  let rest = crc32(PREFIX + secret);
  let text = '';
  while (text.length < CHECKSUM_CHARS) {
    text = ALPHABET.charAt(rest % ALPHABET.length) + text;
    rest = Math.floor(rest / ALPHABET.length);
  }
  return text;
}

/** A new key: `tgk_`, 43 base62 characters of 32 random bytes, 6 base62 characters of their CRC-32. */
export function createGatewayKey(): string {
  const secret = encodeBase62(BigInt(`0x${randomBytes(SECRET_BYTES).toString('hex')}`), SECRET_CHARS);
  return PREFIX + secret + checksumOf(secret);
}

/** False for anything mistyped, cut or foreign, so that it is refused without a look-up. */
export function isWellFormedKey(text: string): boolean {
  const match = SHAPE.exec(text);
  return match?.[1] !== undefined && checksumOf(match[1]) === match[2];
}

/** What is stored and compared: SHA-256 of the whole key, hex. */
export function digestKey(text: string): string {
  return hash('sha256', text, 'hex');
}

/** How a key is shown after its creation: enough to recognise it, far too little to use it. */
export function keyHints(text: string): { readonly prefix: string; readonly last4: string } {
  return { prefix: text.slice(0, 8), last4: text.slice(-4) };
}
