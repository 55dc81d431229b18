/** A filter of runs: `run.<column>:<op>:<value>` tests the run, any other its calls. */
import { namesOf } from '../../vocabulary/record-of.ts';
import { type Filter, FilterError, type LogFilter, parseFilter, parseLogFilter } from './log-filter.ts';
import { isRunField, RUN_FIELDS, RUN_STATES, type RunField } from './run-row.ts';

export type RunFilterColumn = Exclude<RunField, 'cut_at'>;

export type RunFilter = Filter<RunFilterColumn>;

export interface RunFilters {
  /** One call of the run must match all of these. */
  readonly callFilters: readonly LogFilter[];
  readonly runFilters: readonly RunFilter[];
}

const PREFIX = 'run.';
const STATES: readonly string[] = RUN_STATES;

function isRunFilterColumn(name: string): name is RunFilterColumn {
  return isRunField(name) && name !== 'cut_at';
}

function readColumn(name: string): RunFilterColumn {
  const column = name.slice(PREFIX.length);
  if (isRunFilterColumn(column)) return column;
  throw new FilterError(
    `There is no ${JSON.stringify(name)}. Of a run there are ${namesOf(RUN_FIELDS)
      .filter(isRunFilterColumn)
      .map((known) => PREFIX + known)
      .join(', ')}.`,
  );
}

function parseRunFilter(text: string): RunFilter {
  const filter = parseFilter(text, readColumn, (column) => RUN_FIELDS[column]);
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
