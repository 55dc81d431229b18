/** Estimates the cost of a token drift at standard rates, where the report has no money. */
import { z } from 'zod';
import { OperatorError } from '../../vocabulary/errors.ts';
import type { UsageClass } from '../../vocabulary/token-usage.ts';
import { type PicoUsd, parseUsd } from '../../vocabulary/usd.ts';
import type { GatewayClient } from '../gateway-client.ts';
import { isGood, type TokenRow } from './report/comparison.ts';
import { type ReportProvider, TOKEN_CLASSES, type TokenClass } from './report/provider-report.ts';

/** Too few for a prompt-length threshold, enough that rates are not rounded. */
const QUOTED_TOKENS = 1_000;
const MAX_QUOTES = 100;

/** Cache writes count at the cheapest lifetime: reports do not always tell them apart. */
const CLASSES: Readonly<Record<ReportProvider, Readonly<Record<TokenClass, UsageClass>>>> = {
  openai: { input: 'input', cacheRead: 'cache_read', cacheCreation: 'cache_creation_30m', output: 'output' },
  anthropic: { input: 'input', cacheRead: 'cache_read', cacheCreation: 'cache_creation_5m', output: 'output' },
};

const Quote = z.object({
  total_cost: z.string().nullable(),
  cost_lines: z.array(z.object({ class: z.string(), amount: z.string() })),
});

async function priceRow(client: GatewayClient, provider: ReportProvider, row: TokenRow): Promise<PicoUsd | null> {
  const apart = TOKEN_CLASSES.filter((name) => row.drift[name] !== 0);
  const classes = Object.fromEntries(apart.map((name) => [CLASSES[provider][name], QUOTED_TOKENS]));
  const body = { provider, model: row.name, classes, requested_at: `${row.day}T12:00:00Z` };
  const quote = await client.ask(Quote, '/api/v1/prices/quote', { method: 'POST', body });
  // A class without a rate leaves the sum unknown.
  if (quote.total_cost === null) return null;
  return apart.reduce((sum, name) => {
    const amounts = quote.cost_lines.filter((line) => line.class === CLASSES[provider][name]);
    const quoted = amounts.reduce((total, { amount }) => total + parseUsd(amount), 0n);
    return sum + (quoted * BigInt(row.drift[name])) / BigInt(QUOTED_TOKENS);
  }, 0n);
}

export async function priceTokenDrift(
  client: GatewayClient,
  provider: ReportProvider,
  rows: readonly TokenRow[],
  costDays: readonly string[],
): Promise<readonly TokenRow[]> {
  const priced: TokenRow[] = [];
  let quotes = 0;
  for (const row of rows) {
    const isWanted = row.name !== null && !isGood(row.status) && !costDays.includes(row.day) && quotes < MAX_QUOTES;
    if (!isWanted) {
      priced.push(row);
      continue;
    }
    quotes += 1;
    try {
      priced.push({ ...row, driftCost: await priceRow(client, provider, row) });
    } catch (error) {
      // Estimates are optional: an older gateway has no quote, and some names are no models.
      if (!(error instanceof OperatorError)) throw error;
      priced.push(row);
    }
  }
  return priced;
}
