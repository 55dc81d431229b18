/** The sums over calls: their names, their SQL over calls and over roll-ups, and how they are read and added. */
import { type RawBuilder, sql } from 'kysely';
import { recordOf } from '../../vocabulary/record-of.ts';
import { formatUsd, parseUsd } from '../../vocabulary/usd.ts';
import type { SqlRow } from './run-sql.ts';

export const TOKEN_COLUMNS = [
  'input_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
  'output_tokens',
  'reasoning_tokens',
] as const;
const COUNT_COLUMNS = ['calls', 'errors', 'client_closed_calls', 'unpriced_calls'] as const;
const NUMBERS = [...COUNT_COLUMNS, ...TOKEN_COLUMNS] as const;

export const SUMMED_COLUMNS = [...COUNT_COLUMNS, 'total_cost', ...TOKEN_COLUMNS] as const;

/** Of a group that no call is in. One without calls but with a cost has been re-priced before its calls are folded. */
export const IS_NOTHING = SUMMED_COLUMNS.map((column) => `${column} = 0`).join(' and ');

/** `total_cost` is decimal text. */
export type CallSums = Readonly<Record<(typeof NUMBERS)[number], number> & { total_cost: string }>;

/** Sums over records with `sign`: 1 for a call that counts, -1 for one that is taken back. */
const SIGNED = [
  'sum(sign)::int8',
  "coalesce(sum(sign) filter (where outcome not in ('ok', 'client_closed')), 0)::int8",
  'coalesce(sum(sign) filter (where closed_before is not null), 0)::int8',
  'coalesce(sum(sign) filter (where total_cost is null), 0)::int8',
  'coalesce(sum(sign * coalesce(total_cost, known_cost)), 0)::numeric(36,12)',
  ...TOKEN_COLUMNS.map((column) => `coalesce(sum(sign * ${column}), 0)::int8`),
];
export const SIGNED_SUMS = SIGNED.join(', ');

/** The same for calls grouped by `sign`, under their names. */
export const SUMS_BY_SIGN = SUMMED_COLUMNS.map((column, index) => `${SIGNED[index]} as ${column}`).join(', ');

function sumsOf(columns: readonly string[]): RawBuilder<unknown> {
  return sql.join(columns.map((name) => sql`coalesce(sum(${sql.ref(name)}), 0)::int8 as ${sql.ref(name)}`));
}

export const CALL_SUMS = sql`count(*) as calls,
  count(*) filter (where outcome not in ('ok', 'client_closed')) as errors,
  count(closed_before) as client_closed_calls,
  count(*) filter (where total_cost is null) as unpriced_calls,
  coalesce(sum(coalesce(total_cost, known_cost)), 0) as total_cost,
  ${sumsOf(TOKEN_COLUMNS)}`;

export const SUMS_OF_SUMS = sql`${sumsOf(NUMBERS)}, coalesce(sum(total_cost), 0) as total_cost`;

export const NO_SUMS: CallSums = { ...recordOf(NUMBERS, () => 0), total_cost: '0' };

export function readCallSums(row: SqlRow): CallSums {
  return {
    ...recordOf(NUMBERS, (name) => Number(row[name])),
    total_cost: formatUsd(parseUsd(String(row['total_cost']))),
  };
}

export function takenBack(sums: CallSums): CallSums {
  return { ...recordOf(NUMBERS, (name) => -sums[name]), total_cost: formatUsd(-parseUsd(sums.total_cost)) };
}

export function addCallSums(parts: readonly CallSums[]): CallSums {
  return {
    ...recordOf(NUMBERS, (name) => parts.reduce((sum, part) => sum + part[name], 0)),
    total_cost: formatUsd(parts.reduce((sum, part) => sum + parseUsd(part.total_cost), 0n)),
  };
}
