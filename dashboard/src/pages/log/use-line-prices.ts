/** What the price book says of the models that a call's cost lines were priced as, at the call's time. */
import { useQueries } from '@tanstack/react-query';
import type { LogDetail } from '../../api/logs.ts';
import { type PriceRows, priceRowsQuery } from '../../api/prices.ts';
import type { CostTableLine } from '../../messages/cost-breakdown.ts';

/** A call has one model, and sometimes a second within it; a record of any shape must not ask for hundreds. */
const MAX_MODELS = 4;

type LinePrices = (line: CostTableLine) => PriceRows | undefined;

export function useLinePrices(log: LogDetail, lines: readonly CostTableLine[]): LinePrices {
  const { provider, provider_alias, billing_model, requested_at } = log;
  const modelOf = (line: CostTableLine) => line.model ?? billing_model;
  const models = [...new Set(lines.map(modelOf))]
    .filter((model): model is string => typeof model === 'string' && model !== '')
    .slice(0, MAX_MODELS);
  const answers = useQueries({
    queries: models.map((model) =>
      priceRowsQuery({ provider: provider ?? '', model, provider_alias: provider_alias ?? null, at: requested_at }),
    ),
  });
  return (line) => answers[models.indexOf(modelOf(line) ?? '')]?.data;
}
