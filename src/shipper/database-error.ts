/** What a failure of the database means for a batch: the data are at fault, or the moment is. */
import pg from 'pg';

/**
 * SQLSTATE classes of errors that the same data will cause again: data exception, integrity constraint violation, program
 * limit exceeded. https://www.postgresql.org/docs/18/errcodes-appendix.html
 */
const DATA_CLASSES: ReadonlySet<string> = new Set(['22', '23', '54']);
/** "No partition of relation found for row" comes as a check violation without a constraint. */
const CHECK_VIOLATION = '23514';
/** "PL/pgSQL error": `raise exception` in a function of somebody's. None of our own raises, nor does the server. */
const RAISED_CLASS = 'P0';
/** Of the server's source: what `raise` comes from, whatever code its author gave it. */
const RAISED_ROUTINE = 'exec_stmt_raise';

export type DatabaseFailure =
  /** Try the same again later: no connection, no disk, no schema, a deadlock, anything that is not about the data. */
  | 'wait'
  /** A partition was dropped since we looked: make it again, then repeat. */
  | 'no_partition'
  /** A trigger of the operator's says no: to these data, or to everybody for a while. */
  | 'raised'
  | 'data';

export function judgeFailure(error: unknown): DatabaseFailure {
  // Made by our own encoders before anything was sent: an id that is no UUID, a time that is no time.
  if (error instanceof RangeError || error instanceof TypeError) return 'data';
  if (!(error instanceof pg.DatabaseError) || error.code === undefined) return 'wait';
  const isRaised = error.code.startsWith(RAISED_CLASS) || error.routine === RAISED_ROUTINE;
  if (error.code === CHECK_VIOLATION && error.constraint === undefined && !isRaised) return 'no_partition';
  if (DATA_CLASSES.has(error.code.slice(0, 2))) return 'data';
  return isRaised ? 'raised' : 'wait';
}

/** The code and the message, without the values that PostgreSQL quotes in `detail`. */
export function describeFailure(error: unknown): string {
  if (error instanceof pg.DatabaseError) return `${error.code ?? 'no code'}: ${error.message}`;
  return error instanceof Error ? `${error.name}: ${error.message}` : 'unknown error';
}

/** Where in the functions of the database it was raised: "PL/pgSQL function … line 3 at RAISE". */
export function readPlace(error: unknown): string {
  return error instanceof pg.DatabaseError ? (error.where ?? '') : '';
}
