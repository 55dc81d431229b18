/** The errors of the admin API, and how anything thrown becomes one of them. */
import { FilterError } from '../log/log-filter.ts';
import {
  CANCELLED_BY_TIME,
  DISK_FULL,
  errorCode,
  isDatabaseDown,
  TOO_MANY_CONNECTIONS,
} from '../store/database-error.ts';

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

export function databaseUnavailable(cause?: unknown): ApiError {
  return new ApiError(
    503,
    'database_unavailable',
    'The database does not answer. Calls are proxied and recorded meanwhile; ask again in a moment.',
    { cause },
  );
}

/** Total: the unforeseen becomes a 500 without details, whose cause is logged. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof FilterError) return new ApiError(400, 'invalid_filter', error.message);
  if (errorCode(error) === TOO_MANY_CONNECTIONS)
    return new ApiError(
      503,
      'database_unavailable',
      'The database takes no more connections. Calls are proxied and recorded meanwhile; raise its max_connections, or the limit of the role or the database: each node needs 18.',
      { cause: error },
    );
  if (isDatabaseDown(error)) return databaseUnavailable(error);
  if (errorCode(error) === CANCELLED_BY_TIME)
    return new ApiError(503, 'query_timeout', 'The database took too long. Narrow the time range or the filters.');
  // Even a query may need room, for its sort.
  if (errorCode(error) === DISK_FULL)
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
