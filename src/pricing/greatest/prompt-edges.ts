/** Where a longer prompt costs another rate. */
import type { DeclaredFor } from '../operator-prices.ts';
import type { PriceBook } from '../price-book.ts';

type PricedFor = Omit<DeclaredFor, 'atMs'> & { readonly requestedAtMs: number };

/** Rising. A prompt is beyond an edge when it has more tokens. */
export function listPromptEdges(
  book: PriceBook,
  { provider, providerAlias, requestedAtMs }: PricedFor,
  model: string,
): readonly number[] {
  const { prices } = book.findPrices({ provider, providerAlias, atMs: requestedAtMs }, model);
  const edges = prices.rows.flatMap(({ promptTier }) =>
    promptTier === null ? [] : [promptTier.overTokens, promptTier.upToTokens],
  );
  return [...new Set(edges)].filter((edge) => edge > 0 && edge < Number.MAX_SAFE_INTEGER).sort((a, b) => a - b);
}

/** Of how many edges a prompt is beyond. */
export function countReached(edges: readonly number[], promptTokens: number): number {
  let reached = 0;
  for (const edge of edges) if (promptTokens > edge) reached += 1;
  return reached;
}
