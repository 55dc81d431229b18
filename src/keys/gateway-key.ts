/**
 * Makes, recognises and digests gateway keys and the tokens for runs, readers, the API and share links, which have one form. They have
 * 256 bits of entropy, so a plain SHA-256 is safe and fast.
 */
import { hash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

/** Fixed, so that secret scanners recognise a leaked one. */
const KEY_PREFIX = 'tgk_';
const RUN_TOKEN_PREFIX = 'tgr_';
const READ_TOKEN_PREFIX = 'tgm_';
const API_TOKEN_PREFIX = 'tga_';
const SHARE_TOKEN_PREFIX = 'tgs_';
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const SECRET_BYTES = 32;
const SECRET_CHARS = 43;
/** 62^6 is above 2^32, which leaves room for a CRC-32. */
const CHECKSUM_CHARS = 6;
const SHAPE = /^(tg[kr]_[0-9A-Za-z]{43})([0-9A-Za-z]{6})$/;
const READ_TOKEN_SHAPE = /^(tgm_[0-9A-Za-z]{43})([0-9A-Za-z]{6})$/;
const API_TOKEN_SHAPE = /^(tga_[0-9A-Za-z]{43})([0-9A-Za-z]{6})$/;
const SHARE_TOKEN_SHAPE = /^(tgs_[0-9A-Za-z]{43})([0-9A-Za-z]{6})$/;

function encodeBase62(value: bigint, length: number): string {
  let rest = value;
  let text = '';
  while (text.length < length) {
    text = ALPHABET.charAt(Number(rest % 62n)) + text;
    rest /= 62n;
  }
  return text;
}

/** Plain numbers, because this runs for every call. */
function checksumOf(prefixed: string): string {
  let rest = crc32(prefixed);
  let text = '';
  while (text.length < CHECKSUM_CHARS) {
    text = ALPHABET.charAt(rest % ALPHABET.length) + text;
    rest = Math.floor(rest / ALPHABET.length);
  }
  return text;
}

/** `tgk_`, 43 base62 characters of 32 random bytes, 6 base62 characters of their CRC-32. */
export function createGatewayKey(): string {
  return createToken(KEY_PREFIX);
}

/** `tgr_`, then as a key. */
export function createRunToken(): string {
  return createToken(RUN_TOKEN_PREFIX);
}

/** `tgm_`, then as a key. It reads the log over MCP, and no proxy takes it. */
export function createReadToken(): string {
  return createToken(READ_TOKEN_PREFIX);
}

/** `tga_`, then as a key. It opens the admin API within its scopes. */
export function createApiToken(): string {
  return createToken(API_TOKEN_PREFIX);
}

/** `tgs_`, then as a key. It opens one page of the dashboard. */
export function createShareToken(): string {
  return createToken(SHARE_TOKEN_PREFIX);
}

function createToken(prefix: string): string {
  const secret = encodeBase62(BigInt(`0x${randomBytes(SECRET_BYTES).toString('hex')}`), SECRET_CHARS);
  return prefix + secret + checksumOf(prefix + secret);
}

/** False for anything mistyped or cut, which is then refused without a look-up. Run tokens count too. */
export function isWellFormedKey(text: string): boolean {
  return isWhole(SHAPE, text);
}

/** As `isWellFormedKey`, of read tokens. */
export function isWellFormedReadToken(text: string): boolean {
  return isWhole(READ_TOKEN_SHAPE, text);
}

/** As `isWellFormedKey`, of API tokens. */
export function isWellFormedApiToken(text: string): boolean {
  return isWhole(API_TOKEN_SHAPE, text);
}

/** As `isWellFormedKey`, of the tokens of share links. */
export function isWellFormedShareToken(text: string): boolean {
  return isWhole(SHARE_TOKEN_SHAPE, text);
}

function isWhole(shape: RegExp, text: string): boolean {
  const match = shape.exec(text);
  return match?.[1] !== undefined && checksumOf(match[1]) === match[2];
}

export function isRunToken(text: string): boolean {
  return text.startsWith(RUN_TOKEN_PREFIX);
}

/** SHA-256 of the whole key, hex; only this is stored. */
export function digestKey(text: string): string {
  return hash('sha256', text, 'hex');
}

/** The parts of a key that are shown after its creation. */
export function keyHints(text: string): { readonly prefix: string; readonly last4: string } {
  return { prefix: text.slice(0, 8), last4: text.slice(-4) };
}
