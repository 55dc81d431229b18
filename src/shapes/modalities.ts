/**
 * Splits an input total into disjoint classes by modality and by cache. Providers report the cached part sometimes by
 * modality and sometimes as one number; one number is taken from text first, and only then from the rest.
 */
import type { Draft } from './reading.ts';

const MODALITIES = ['audio', 'image', 'video'] as const;
export type Modality = (typeof MODALITIES)[number];

/** Tokens by modality other than text; an absent one was not reported. */
export type ByModality = Readonly<Partial<Record<Modality, number>>>;

export interface InputParts {
  /** All input tokens, cached ones, written ones and other modalities included. */
  readonly total: number;
  readonly cached: number | null;
  /** Tokens written to a cache: a part of the total, of text. */
  readonly written: number | null;
  readonly parts: ByModality;
  /** The cached tokens by modality, when they are told apart. */
  readonly cachedParts: ByModality | null;
  /** More input outside the total (tool results), by modality, text being the rest. */
  readonly extra: number;
  readonly extraParts: ByModality;
}

function sumOf(parts: ByModality): number {
  return MODALITIES.reduce((sum, name) => sum + (parts[name] ?? 0), 0);
}

/** Sets `input*` and `cache_read*`; the caller sets the classes of what was written. */
export function setInput(draft: Draft, input: InputParts): void {
  const { total, cached, written, parts, cachedParts, extra, extraParts } = input;
  // What was read from a cache is a part of the total, also where the total's own parts leave it out.
  const text = total - sumOf({ ...cachedParts, ...parts }) - (written ?? 0);
  let cachedText = cachedParts === null ? Math.min(cached ?? 0, Math.max(text, 0)) : (cached ?? 0) - sumOf(cachedParts);
  let rest = cachedParts === null ? (cached ?? 0) - cachedText : 0;
  for (const name of MODALITIES) {
    const all = parts[name] ?? null;
    const fromCache = cachedParts === null ? Math.min(rest, all ?? 0) : (cachedParts[name] ?? 0);
    if (cachedParts === null) rest -= fromCache;
    if (fromCache > 0 || cachedParts?.[name] !== undefined) draft.set(`cache_read_${name}`, fromCache);
    const more = extraParts[name] ?? 0;
    if (all !== null || more > 0) draft.set(`input_${name}`, (all ?? 0) - fromCache + more);
  }
  // More cached than there is: keep what was reported as cached, and let the clamp of the input remark it.
  cachedText += rest;
  draft.set('input', text - cachedText + (extra - sumOf(extraParts)));
  draft.set('cache_read', cached === null ? null : cachedText);
}
