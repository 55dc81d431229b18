/**
 * Reads the cache lifetime that a request asked for, for answers that report writes without one. Source: Anthropic,
 * Prompt caching (`cache_control.ttl`); AWS API reference, CachePointBlock; November 2026.
 */
import type { JsonObject, TokenUsage } from '../../vocabulary/token-usage.ts';
import { readArray, readCount, readName, readObject } from './read-json.ts';

/** `unknown`: several lifetimes, an unfamiliar one, or a request that could not be read whole. */
export type AskedLifetime = 'default' | '1h' | 'unknown';

const POINT_NAMES = ['"cache_control"', '"cachePoint"'] as const;
const MAX_POINT_BYTES = 256;
const POINT = /^\s*:\s*\{([^{}]*)\}/;
const NO_POINT = /^\s*:\s*(?:null|[^\s{])/;
const TTL = /"ttl"\s*:\s*(null|"[^"]*")/;

function readPoint(text: string): AskedLifetime | null {
  const members = POINT.exec(text)?.[1];
  if (members === undefined) return NO_POINT.test(text) ? null : 'unknown';
  const ttl = TTL.exec(members)?.[1];
  if (ttl === '"1h"') return '1h';
  return ttl === '"5m"' || ttl === 'null' || (ttl === undefined && !members.includes('"ttl"')) ? 'default' : 'unknown';
}

/** The bytes are searched: inside a string, the quotes of such a name would be escaped. */
export function readAskedLifetime(body: Buffer): AskedLifetime {
  const asked = new Set<AskedLifetime>();
  for (const name of POINT_NAMES)
    for (let at = body.indexOf(name); at !== -1; at = body.indexOf(name, at + name.length)) {
      const start = at + name.length;
      const point = readPoint(body.toString('latin1', start, start + MAX_POINT_BYTES));
      if (point !== null) asked.add(point);
    }
  const [only = 'default'] = asked;
  return asked.size > 1 ? 'unknown' : only;
}

function countSplit(native: JsonObject): number {
  const split = readObject(native, 'cache_creation');
  const fiveMinutes = readCount(split, 'ephemeral_5m_input_tokens') ?? 0;
  const oneHour = readCount(split, 'ephemeral_1h_input_tokens') ?? 0;
  return readArray(native, 'cacheDetails').reduce<number>(
    (sum, item) => sum + (readName(item, 'ttl') === null ? 0 : (readCount(item, 'inputTokens') ?? 0)),
    fiveMinutes + oneHour,
  );
}

/** `readAsked` is called only where the answer leaves it open. */
export function withAskedLifetime(usage: TokenUsage, readAsked: () => AskedLifetime): TokenUsage {
  // This comes first because nearly every call ends here.
  if ((usage.classes.cache_creation_5m ?? 0) === 0) return usage;
  const { cache_creation_5m: fiveMinutes = 0, cache_creation_1h: oneHour = 0, ...rest } = usage.classes;
  const split = countSplit(usage.native);
  if (split >= fiveMinutes + oneHour) return usage;
  const asked = readAsked();
  if (asked === 'default') return usage;
  if (asked === 'unknown' || split > 0) return { ...usage, hasUnknownWrites: true };
  return { ...usage, classes: { ...rest, cache_creation_1h: fiveMinutes + oneHour } };
}
