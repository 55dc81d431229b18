/** Requests to the admin API: same origin, the session's cookie, errors with the words of the server. */

export type ParameterValue = string | number | boolean | readonly string[] | null | undefined;
export type Parameters = Readonly<Record<string, ParameterValue>>;

/** What the server said, or that it did not answer at all (`code` is then `network`). */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly requestId: string | null;

  constructor(status: number, code: string, message: string, requestId: string | null) {
    super(message);
    this.name = 'ApiError';
    this.status = status;
    this.code = code;
    this.requestId = requestId;
  }
}

export function apiPath(path: string, parameters: Parameters = {}): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value === null || value === undefined || value === '') continue;
    for (const one of Array.isArray(value) ? value : [value]) query.append(name, String(one));
  }
  const text = query.toString();
  return `/api/v1${path}${text === '' ? '' : `?${text}`}`;
}

async function readError(response: Response): Promise<ApiError> {
  const fallback = `The gateway answered ${response.status}.`;
  try {
    const { error } = await response.json();
    return new ApiError(
      response.status,
      String(error?.code ?? 'unknown'),
      String(error?.message ?? fallback),
      typeof error?.request_id === 'string' ? error.request_id : null,
    );
  } catch {
    return new ApiError(response.status, 'unknown', fallback, null);
  }
}

async function send(url: string, init: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(url, { credentials: 'same-origin', ...init });
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new ApiError(0, 'network', 'The gateway does not answer. Is it running?', null);
  }
  if (!response.ok) throw await readError(response);
  return response;
}

/** The answer is trusted to have the type that the server's own code says it has. */
export async function getJson<T>(path: string, parameters: Parameters = {}, signal?: AbortSignal): Promise<T> {
  const response = await send(apiPath(path, parameters), signal === undefined ? {} : { signal });
  return response.json();
}

/** Raw bytes, e.g. of a body. */
export async function getBytes(path: string, parameters: Parameters = {}, signal?: AbortSignal): Promise<Response> {
  return send(apiPath(path, parameters), signal === undefined ? {} : { signal });
}

/** An answer without a body is null. */
export async function sendJson<T>(method: 'POST' | 'PUT' | 'DELETE', path: string, body?: unknown): Promise<T> {
  const response = await send(apiPath(path), {
    method,
    ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return JSON.parse(text === '' ? 'null' : text);
}
