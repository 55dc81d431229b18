/** Splits an input total by modality and cache. A cached count without modalities is taken from text first. */
import type { Draft } from './reported-usage.ts';

const MODALITIES = ['audio', 'image', 'video'] as const;
export type Modality = (typeof MODALITIES)[number];

/** Tokens by modality other than text; an absent one was not reported. */
export type ByModality = Readonly<Partial<Record<Modality, number>>>;

/** These models answer in sound or pictures too, at other rates than in text. */
const OF_MODALITIES = /audio|image|banana/i;

/** Output of such a model that is not split has no known price. */
export function needsSplit(model: string | null, output: number | null, isSplit: boolean): boolean {
  return !isSplit && output !== null && output > 0 && model !== null && OF_MODALITIES.test(model);
}

export interface InputParts {
  /** All input tokens, including cached, written and other modalities. */
  readonly total: number;
  readonly cached: number | null;
  /** Text tokens of the total that were written to a cache. */
  readonly written?: number | null;
  readonly parts: ByModality;
  readonly cachedParts: ByModality | null;
  /** Input outside the total (tool results), by modality; the rest is text. */
  readonly extra?: number;
  readonly extraParts?: ByModality;
}

function sumOf(parts: ByModality): number {
  return MODALITIES.reduce((sum, name) => sum + (parts[name] ?? 0), 0);
}

/** Sets `input*` and `cache_read*`; the caller sets cache writes. */
export function setInput(draft: Draft, input: InputParts): void {
  const { total, cached, written, parts, cachedParts, extra = 0, extraParts = {} } = input;
  // Cache reads are part of the total even where the total's own parts omit them.
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
  // More is cached than there is: it is kept, and the input's clamp flags it.
  cachedText += rest;
  draft.set('input', text - cachedText + (extra - sumOf(extraParts)));
  draft.set('cache_read', cached === null ? null : cachedText);
}
