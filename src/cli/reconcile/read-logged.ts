/** Reads what the gateway logged for one provider, by day in UTC and model. */

import { parseUsd } from '../../vocabulary/usd.ts';
import { CostsAnswer } from '../costs-answer.ts';
import type { GatewayClient } from '../gateway-client.ts';
import type { LoggedRow } from './report/comparison.ts';
import { dayOf, nextDay } from './report/provider-report.ts';

/** Days per batch of requests: the gateway has other work. */
const PARALLEL = 4;
/** The API's limit of groups; the other models of a day come as one row. */
const MODELS_PER_DAY = 200;

type Sums = CostsAnswer['totals'];

export interface Logged {
  readonly rows: readonly LoggedRow[];
  readonly firstDay: string | null;
}

function asRow(day: string, model: LoggedRow['model'], sums: Sums): LoggedRow {
  return {
    day,
    model,
    calls: sums.calls,
    errors: sums.errors,
    unpriced: sums.unpriced_calls,
    cost: parseUsd(sums.total_cost),
    tokens: {
      input: sums.input_tokens,
      cacheRead: sums.cache_read_input_tokens,
      cacheCreation: sums.cache_creation_input_tokens,
      output: sums.output_tokens,
    },
  };
}

async function readDay(client: GatewayClient, day: string, filters: readonly string[]): Promise<readonly LoggedRow[]> {
  const query = new URLSearchParams(filters.map((filter) => ['f', filter]));
  query.set('group_by', 'model');
  query.set('tz', 'UTC');
  query.set('limit', String(MODELS_PER_DAY));
  query.set('from', day);
  query.set('to', nextDay(day));
  const { data, rest } = await client.ask(CostsAnswer, `/api/v1/costs?${query}`);
  return [
    ...data.map(({ group, ...sums }) => asRow(day, group[0] ?? null, sums)),
    ...(rest === null ? [] : [asRow(day, { rest: rest.groups }, rest)]),
  ];
}

export async function readLogged(
  client: GatewayClient,
  days: readonly string[],
  filters: readonly string[],
): Promise<Logged> {
  const all = await client.ask(CostsAnswer, '/api/v1/costs?limit=1');
  const rows: LoggedRow[] = [];
  for (let index = 0; index < days.length; index += PARALLEL) {
    const some = days.slice(index, index + PARALLEL);
    rows.push(...(await Promise.all(some.map((day) => readDay(client, day, filters)))).flat());
  }
  return { rows, firstDay: all.totals.calls === 0 ? null : dayOf(Date.parse(all.from)) };
}
