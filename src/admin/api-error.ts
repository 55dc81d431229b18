/** The errors that the admin API answers, and how anything thrown becomes one of them. */
import { FilterError } from '../runs/log-filter.ts';

export type ApiErrorStatus = 400 | 401 | 403 | 404 | 409 | 413 | 421 | 429 | 500 | 503;

export class ApiError extends Error {
  readonly status: ApiErrorStatus;
  readonly code: string;

  constructor(status: ApiErrorStatus, code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ApiError';
    this.status = status;
    this.code = code;
  }
}

/**
 * PostgreSQL: connection exceptions; who we are is refused, or which database (a password that was changed, a database that
 * is being made); read-only, as after a fail-over; too many connections; shut down, starting, or the connection ended.
 */
const DOWN_SQLSTATE = /^(?:08...|28...|3D000|25006|53300|57P0[1-5])$/;
const DISK_FULL_SQLSTATE = '53100';
const TOO_MANY_CONNECTIONS_SQLSTATE = '53300';
const DOWN_ERRNO: readonly string[] = [
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
];
/** What the driver throws without a code. */
const DOWN_MESSAGE =
  /connection terminated|timeout (?:exceeded when trying to connect|expired)|not queryable|connection error|pool after calling end|query read timeout/i;

function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : '';
}

/** The database could not be asked at all, as opposed to: it refused the question. */
export function isDatabaseDown(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = codeOf(error);
  return DOWN_SQLSTATE.test(code) || DOWN_ERRNO.includes(code) || (code === '' && DOWN_MESSAGE.test(error.message));
}

export function databaseUnavailable(cause?: unknown): ApiError {
  return new ApiError(
    503,
    'database_unavailable',
    'The database does not answer. Calls are proxied and recorded meanwhile; ask again in a moment.',
    { cause },
  );
}

/** Total. What is not foreseen is a 500 that says nothing; its cause is for the log. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof FilterError) return new ApiError(400, 'invalid_filter', error.message);
  if (error instanceof Error && codeOf(error) === TOO_MANY_CONNECTIONS_SQLSTATE)
    return new ApiError(
      503,
      'database_unavailable',
      'The database takes no more connections. Calls are proxied and recorded meanwhile; raise its max_connections, or the limit of the role or the database: each node needs 18.',
      { cause: error },
    );
  if (isDatabaseDown(error)) return databaseUnavailable(error);
  if (error instanceof Error && codeOf(error) === '57014')
    return new ApiError(503, 'query_timeout', 'The database took too long. Narrow the time range or the filters.');
  // A question may need room as well, for its sort; a change always does.
  if (error instanceof Error && codeOf(error) === DISK_FULL_SQLSTATE)
    return new ApiError(503, 'database_full', 'The disk of the database is full. Make room, then ask again.', {
      cause: error,
    });
  if (error instanceof Error && 'status' in error && (error.status === 400 || error.status === 415))
    return new ApiError(400, 'invalid_request', 'The body is not JSON (send it with content-type: application/json).');
  return new ApiError(
    500,
    'internal_error',
    'The gateway failed on this request. Its log has the details under the request id.',
    {
      cause: error,
    },
  );
}
