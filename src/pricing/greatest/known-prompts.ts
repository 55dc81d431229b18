/**
 * What the provider counted of earlier requests. An agent sends its conversation again with each call, a little longer:
 * the bytes that a counted request had at its beginning and end need not be bounded anew. Only hashes are kept.
 */
import { randomBytes } from 'node:crypto';

/** `tokens` were counted for a request with the same bytes before `from` and from `to` on. */
export interface KnownPrompt {
  readonly tokens: number;
  readonly from: number;
  readonly to: number;
}

const CHUNK = 1_024;
const WORDS = CHUNK / 4;
/** A longer body is not hashed. */
export const MAX_BODY_BYTES = 2 * 1024 * 1024;
const LEAST_BODY_BYTES = 2 * CHUNK;
/** Conversations that go on beside each other under one scope. */
const KEPT_OF_SCOPE = 8;
const MAX_KEPT_BYTES = 8 * 1024 * 1024;
const ENTRY_BYTES = 200;

/** Keeps a client from writing a body whose hashes are those of another. */
const SEED = randomBytes(8);
const [SEED_A, SEED_B] = [SEED.readInt32LE(0), SEED.readInt32LE(4)];

const chunkBytes = Buffer.alloc(CHUNK);
const chunkWords = new Int32Array(chunkBytes.buffer, chunkBytes.byteOffset, WORDS);

/** Whole ones. */
function countChunks(bytes: number): number {
  return (bytes - (bytes % CHUNK)) / CHUNK;
}

/** Two running 32-bit hashes after each whole chunk. `startOf`: where the chunk begins. */
function hashChunks(body: Buffer, startOf: (chunk: number) => number): Int32Array {
  const chunks = countChunks(body.length);
  const hashes = new Int32Array(chunks * 2);
  let a = SEED_A;
  let b = SEED_B;
  for (let chunk = 0; chunk < chunks; chunk += 1) {
    const start = startOf(chunk);
    body.copy(chunkBytes, 0, start, start + CHUNK);
    for (let at = 0; at < WORDS; at += 1) {
      const word = chunkWords[at] ?? 0;
      a = Math.imul(a ^ word, 0x9e3779b1);
      a ^= a >>> 15;
      b = Math.imul(b + word, 0x85ebca6b);
      b = (b << 13) | (b >>> 19);
    }
    hashes[chunk * 2] = a;
    hashes[chunk * 2 + 1] = b;
  }
  return hashes;
}

function countEqual(first: Int32Array, second: Int32Array): number {
  // The hashes run on: once they differ, they do to the end.
  let low = 0;
  let high = Math.min(first.length, second.length) / 2;
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    const at = (middle - 1) * 2;
    if (first[at] === second[at] && first[at + 1] === second[at + 1]) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** What is kept of a request's body. */
export interface BodyHashes {
  readonly length: number;
  readonly fromStart: Int32Array;
  readonly fromEnd: Int32Array;
}

/** Null where the body is too short to be worth it, or too long. */
export function hashBody(body: Buffer): BodyHashes | null {
  const { length } = body;
  if (length < LEAST_BODY_BYTES || length > MAX_BODY_BYTES) return null;
  return {
    length,
    fromStart: hashChunks(body, (chunk) => chunk * CHUNK),
    fromEnd: hashChunks(body, (chunk) => length - (chunk + 1) * CHUNK),
  };
}

export function sizeOfHashes({ fromStart, fromEnd }: BodyHashes): number {
  return fromStart.byteLength + fromEnd.byteLength + ENTRY_BYTES;
}

interface Counted extends BodyHashes {
  readonly tokens: number;
}

export class KnownPrompts {
  readonly #maxBytes: number;
  /** The least recently used scope comes first. */
  readonly #scopes = new Map<string, Counted[]>();
  #bytes = 0;

  constructor(maxBytes = MAX_KEPT_BYTES) {
    this.#maxBytes = maxBytes;
  }

  /** What leaves the least to be bounded; null where nothing is saved. */
  find(scope: string, hashes: BodyHashes): KnownPrompt | null {
    const counted = this.#scopes.get(scope);
    if (counted === undefined) return null;
    let best: KnownPrompt | null = null;
    let least = hashes.length;
    for (const entry of counted) {
      const from = countEqual(entry.fromStart, hashes.fromStart) * CHUNK;
      if (from === 0) continue;
      // No byte of the counted request may stand for two of this one.
      const room = countChunks(Math.min(entry.length, hashes.length) - from);
      const after = Math.min(room, countEqual(entry.fromEnd, hashes.fromEnd)) * CHUNK;
      const to = hashes.length - after;
      if (entry.tokens + to - from >= least) continue;
      least = entry.tokens + to - from;
      best = { tokens: entry.tokens, from, to };
    }
    return best;
  }

  /** `tokens`: the whole prompt, as the provider reported it. */
  note(scope: string, hashes: BodyHashes, tokens: number): void {
    const { fromStart } = hashes;
    const added: Counted = { ...hashes, tokens };
    const before = this.#scopes.get(scope) ?? [];
    // The longer request of a conversation takes the place of the shorter one.
    const others = before.filter((entry) => countEqual(entry.fromStart, fromStart) * 2 < entry.fromStart.length);
    const kept = [...others.slice(-(KEPT_OF_SCOPE - 1)), added];
    this.#scopes.delete(scope);
    this.#scopes.set(scope, kept);
    this.#bytes += sum(kept) - sum(before);
    for (const [oldest, entries] of this.#scopes) {
      if (this.#bytes <= this.#maxBytes) break;
      this.#scopes.delete(oldest);
      this.#bytes -= sum(entries);
    }
  }
}

function sum(entries: readonly Counted[]): number {
  return entries.reduce((bytes, entry) => bytes + sizeOfHashes(entry), 0);
}
