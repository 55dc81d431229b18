/** The body of the gateway's own refusals, in a form that the client of every provider shows. */

export interface Refusal {
  readonly status: number;
  readonly code: string;
  /** Nothing of the request. */
  readonly message: string;
}

interface RefusalNames {
  readonly type: string;
  readonly status: string;
  readonly exception: string;
}

/** The names of this class of error in the SDKs of several providers. */
export function nameRefusal(status: number): RefusalNames {
  if (status === 401)
    return { type: 'authentication_error', status: 'UNAUTHENTICATED', exception: 'AccessDeniedException' };
  if (status === 403)
    return { type: 'permission_error', status: 'PERMISSION_DENIED', exception: 'AccessDeniedException' };
  if (status === 429)
    return { type: 'rate_limit_error', status: 'RESOURCE_EXHAUSTED', exception: 'ThrottlingException' };
  if (status === 404) return { type: 'not_found_error', status: 'NOT_FOUND', exception: 'ResourceNotFoundException' };
  if (status < 500)
    return { type: 'invalid_request_error', status: 'INVALID_ARGUMENT', exception: 'ValidationException' };
  if (status === 503 || status === 502 || status === 504)
    return { type: 'api_error', status: 'UNAVAILABLE', exception: 'ServiceUnavailableException' };
  return { type: 'api_error', status: 'INTERNAL', exception: 'InternalServerException' };
}

/** `isNumeric`: Google's clients read the status as the code. */
export function writeRefusalBody(
  { status, code, message }: Refusal,
  id: string,
  isNumeric: boolean,
  details: readonly object[] = [],
): string {
  const names = nameRefusal(status);
  return JSON.stringify({
    type: 'error',
    message,
    request_id: id,
    error: {
      type: names.type,
      message,
      code: isNumeric ? status : code,
      param: null,
      status: names.status,
      ...(details.length === 0 ? {} : { details }),
    },
  });
}
