/**
 * What the proxy cost beside nginx when it was last measured on a quiet machine, and whether a run is worse than that. A
 * change that makes the data plane cheaper lowers the figures here, in the same commit.
 */
import type { Interval } from './statistics.ts';
import type { VariantName } from './variants.ts';

/** Medians of ratios to nginx in the same run: 2 cores, Node 26, 29 November 2026. Gzip was not measured then. */
export const KNOWN_RATIOS: Readonly<Partial<Record<VariantName, number>>> = {
  json: 3.2,
  'sse-untouched': 1.75,
  'sse-hidden': 1.8,
};

/** Two runs of the same code differ by so much on a quiet machine. */
const ALLOWANCE = 1.1;

export type Change = 'worse' | 'as known' | 'better' | 'unsure';

/** Worse or better only where the whole interval is; with the median beyond the allowance alone, more rounds must tell. */
export function judgeChange(variant: string, ratio: number, { low, high }: Interval): Change | null {
  const known = Object.entries(KNOWN_RATIOS).find(([name]) => name === variant)?.[1];
  if (known === undefined) return null;
  if (low > known * ALLOWANCE) return 'worse';
  if (high < known / ALLOWANCE) return 'better';
  return ratio > known * ALLOWANCE || ratio < known / ALLOWANCE ? 'unsure' : 'as known';
}
