/** The sums over any calls, as the roll-ups of runs define them: in SQL, as JSON, and added up without an error. */
import { sql } from 'kysely';
import { formatUsd, parseUsd } from '../usd.ts';
import type { SqlRow } from './run-sql.ts';

export const TOKEN_COLUMNS = [
  'input_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
  'output_tokens',
  'reasoning_tokens',
] as const;

export type TokenSums = Record<(typeof TOKEN_COLUMNS)[number], number>;

export interface CallSums extends TokenSums {
  calls: number;
  errors: number;
  client_closed_calls: number;
  unpriced_calls: number;
  /** Decimal text. */
  total_cost: string;
}

/** Selects the sums from `llm_requests`. */
export const CALL_SUMS = sql`count(*) as calls,
  count(*) filter (where outcome not in ('ok', 'client_closed')) as errors,
  count(closed_before) as client_closed_calls,
  count(*) filter (where total_cost is null) as unpriced_calls,
  coalesce(sum(coalesce(total_cost, known_cost)), 0) as total_cost,
  ${sql.join(TOKEN_COLUMNS.map((name) => sql`coalesce(sum(${sql.ref(name)}), 0)::int8 as ${sql.ref(name)}`))}`;

const COUNT_COLUMNS = ['calls', 'errors', 'client_closed_calls', 'unpriced_calls'] as const;

/** Selects the sums of rows that hold such sums already: a roll-up, or groups. */
export const SUMS_OF_SUMS = sql`
  ${sql.join([...COUNT_COLUMNS, ...TOKEN_COLUMNS].map((name) => sql`coalesce(sum(${sql.ref(name)}), 0)::int8 as ${sql.ref(name)}`))},
  coalesce(sum(total_cost), 0) as total_cost`;

export const NO_SUMS: Readonly<CallSums> = {
  calls: 0,
  errors: 0,
  client_closed_calls: 0,
  unpriced_calls: 0,
  total_cost: '0',
  input_tokens: 0,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
  output_tokens: 0,
  reasoning_tokens: 0,
};

export function readCallSums(row: SqlRow): Readonly<CallSums> {
  return {
    calls: Number(row['calls']),
    errors: Number(row['errors']),
    client_closed_calls: Number(row['client_closed_calls']),
    unpriced_calls: Number(row['unpriced_calls']),
    total_cost: formatUsd(parseUsd(String(row['total_cost']))),
    input_tokens: Number(row['input_tokens']),
    cache_read_input_tokens: Number(row['cache_read_input_tokens']),
    cache_creation_input_tokens: Number(row['cache_creation_input_tokens']),
    output_tokens: Number(row['output_tokens']),
    reasoning_tokens: Number(row['reasoning_tokens']),
  };
}

export function addCallSums(parts: readonly Readonly<CallSums>[]): Readonly<CallSums> {
  const total = { ...NO_SUMS };
  // Outside, since money is added as whole numbers.
  let cost = 0n;
  for (const part of parts) {
    cost += parseUsd(part.total_cost);
    for (const name of [...COUNT_COLUMNS, ...TOKEN_COLUMNS]) total[name] += part[name];
  }
  return { ...total, total_cost: formatUsd(cost) };
}
