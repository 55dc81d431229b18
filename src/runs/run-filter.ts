/**
 * A filter of the list of runs: `run.<column>:<op>:<value>` is about the run itself, any other about its calls. What a
 * filter of runs becomes in SQL is in `run-conditions.ts`.
 */
import type { ColumnKind } from './log-columns.ts';
import { type Filter, FilterError, type LogFilter, parseFilter, parseLogFilter } from './log-filter.ts';
import { RUN_STATES } from './run-row.ts';

export const RUN_FILTER_COLUMNS = {
  trace_id: 'text',
  state: 'text',
  calls: 'integer',
  open_calls: 'integer',
  errors: 'integer',
  client_closed_calls: 'integer',
  unpriced_calls: 'integer',
  total_cost: 'money',
  input_tokens: 'integer',
  cache_read_input_tokens: 'integer',
  cache_creation_input_tokens: 'integer',
  output_tokens: 'integer',
  reasoning_tokens: 'integer',
  duration_ms: 'integer',
  started_at: 'time',
  ended_at: 'time',
} as const satisfies Readonly<Record<string, ColumnKind>>;
export type RunFilterColumn = keyof typeof RUN_FILTER_COLUMNS;

export type RunFilter = Filter<RunFilterColumn>;

export interface RunFilters {
  /** A run matches when one of its calls matches all of these. */
  readonly callFilters: readonly LogFilter[];
  readonly runFilters: readonly RunFilter[];
}

const PREFIX = 'run.';
const STATES: readonly string[] = RUN_STATES;

function isRunFilterColumn(name: string): name is RunFilterColumn {
  return Object.hasOwn(RUN_FILTER_COLUMNS, name);
}

function readColumn(name: string): RunFilterColumn {
  const column = name.slice(PREFIX.length);
  if (isRunFilterColumn(column)) return column;
  throw new FilterError(
    `There is no ${JSON.stringify(name)}. Of a run there are ${Object.keys(RUN_FILTER_COLUMNS)
      .map((known) => PREFIX + known)
      .join(', ')}.`,
  );
}

function parseRunFilter(text: string): RunFilter {
  const filter = parseFilter(text, readColumn, (column) => RUN_FILTER_COLUMNS[column]);
  const unknown = filter.field === 'state' ? filter.values.find((value) => !STATES.includes(value)) : undefined;
  if (unknown !== undefined)
    throw new FilterError(`${JSON.stringify(unknown)} is not a state of runs: ${STATES.join(', ')}.`);
  return filter;
}

/** Throws a FilterError. */
export function parseRunFilters(texts: readonly string[]): RunFilters {
  const isAboutRun = (text: string): boolean => text.startsWith(PREFIX);
  return {
    callFilters: texts.filter((text) => !isAboutRun(text)).map(parseLogFilter),
    runFilters: texts.filter(isAboutRun).map(parseRunFilter),
  };
}
