/** What an error of the database or driver means: https://www.postgresql.org/docs/18/errcodes-appendix.html */
import pg from 'pg';

/** Connection broken, user or database refused, read-only, too many connections, shut down or starting. */
const DOWN = /^(?:08...|28...|3D000|25006|53300|57P0[1-5])$/;
const DOWN_ERRNO: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]);
/** Messages of the driver's errors without a code. */
const DOWN_MESSAGE =
  /connection terminated|timeout (?:exceeded when trying to connect|expired)|not queryable|connection error|pool after calling end|query read timeout/i;
/** The server or the network ended the connection, or the driver knows that it will get no answer. */
const LOST = /^(?:08...|57P0[1-5]|ECONNRESET|EPIPE|ETIMEDOUT)$/;
const LOST_MESSAGE = /^(?:Query read timeout|Connection terminated|Client has encountered)/;
/** Serialization failure, deadlock, lock not available; lack of resources (53), system errors (58). */
const TRANSIENT = /^(?:40001|40P01|55P03|53...|58...)$/;

export const TOO_MANY_CONNECTIONS = '53300';
export const DISK_FULL = '53100';
export const CANCELLED_BY_TIME = '57014';
export const UNIQUE_VIOLATION = '23505';
export const READ_ONLY = '25006';
export const LOCK_NOT_AVAILABLE = '55P03';
export const DEADLOCK = '40P01';
export const INSUFFICIENT_PRIVILEGE = '42501';
export const INVALID_PARAMETER = '22023';
export const PROTOCOL_VIOLATION = '08P01';

/** Classes of errors that the same data will cause again: data, constraints, program limits. */
const DATA_CLASSES: ReadonlySet<string> = new Set(['22', '23', '54']);
/** "No partition of relation found for row" comes as a check violation without a constraint. */
const CHECK_VIOLATION = '23514';
/** `raise exception` in a function of an operator's trigger; our own code raises none. */
const RAISED_CLASS = 'P0';
/** The server's routine behind `raise`, whatever SQLSTATE the author chose. */
const RAISED_ROUTINE = 'exec_stmt_raise';

/** Returns the SQLSTATE or the system's error name; empty without one. */
export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

/** The database could not be asked, as opposed to refusing the query. */
export function isDatabaseDown(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = errorCode(error);
  return code === '' ? DOWN_MESSAGE.test(error.message) : DOWN.test(code) || DOWN_ERRNO.has(code);
}

export function isConnectionLost(error: unknown): boolean {
  return error instanceof Error && (LOST_MESSAGE.test(error.message) || LOST.test(errorCode(error)));
}

/** The query may succeed later. */
export function isTransient(error: unknown): boolean {
  return error instanceof pg.DatabaseError && TRANSIENT.test(error.code ?? '');
}

/** The same data will cause it again, as will a missing partition. */
export function isDataError(error: unknown): boolean {
  return error instanceof pg.DatabaseError && DATA_CLASSES.has((error.code ?? '').slice(0, 2));
}

export type DatabaseFailure =
  /** Try again later: the failure is not about the data. */
  | 'wait'
  /** A partition was dropped meanwhile; make it again and repeat. */
  | 'no_partition'
  /** An operator's trigger refuses these data, or everything for a while. */
  | 'raised'
  | 'data';

export function judgeFailure(error: unknown): DatabaseFailure {
  // Our own encoders throw these before anything is sent: an invalid UUID or time.
  if (error instanceof RangeError || error instanceof TypeError) return 'data';
  if (!(error instanceof pg.DatabaseError) || error.code === undefined) return 'wait';
  const isRaised = error.code.startsWith(RAISED_CLASS) || error.routine === RAISED_ROUTINE;
  if (error.code === CHECK_VIOLATION && error.constraint === undefined && !isRaised) return 'no_partition';
  if (isDataError(error)) return 'data';
  return isRaised ? 'raised' : 'wait';
}

/** Leaves out `detail`, in which PostgreSQL quotes values. */
export function describeDatabaseError(error: unknown): string {
  if (error instanceof pg.DatabaseError) return `${error.code ?? 'no code'}: ${error.message}`;
  return error instanceof Error ? `${error.name}: ${error.message}` : 'unknown error';
}
