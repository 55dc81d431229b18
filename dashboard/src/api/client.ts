/** Requests to the admin API: same origin, the session's cookie, the tab's account, errors with the words of the server. */
import type { ApiAnswer, ApiPath, PathName } from '../../../src/control/admin/api-types.ts';
import { readHeldAccount } from './tab-session.ts';

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

/** A parameter goes where the path has its name in braces, else into the query. */
export function apiPath(path: string, parameters: Parameters = {}): string {
  const query = new URLSearchParams();
  let filled = path;
  for (const [name, value] of Object.entries(parameters)) {
    if (value === null || value === undefined || value === '') continue;
    const place = `{${name}}`;
    if (path.includes(place)) filled = filled.replace(place, () => encodeURIComponent(String(value)));
    else for (const one of Array.isArray(value) ? value : [value]) query.append(name, String(one));
  }
  const text = query.toString();
  return `/api/v1${filled}${text === '' ? '' : `?${text}`}`;
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

/** As the gateway names it; it goes before the cookie, which another tab may have changed. */
const ACCOUNT_HEADER = 'x-tollgate-account';

async function send(url: string, init: RequestInit): Promise<Response> {
  const headers = new Headers(init.headers);
  const accountId = readHeldAccount();
  if (accountId !== null) headers.set(ACCOUNT_HEADER, String(accountId));
  let response: Response;
  try {
    response = await fetch(url, { credentials: 'same-origin', ...init, headers });
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new ApiError(0, 'network', 'The gateway does not answer. Is it running?', null);
  }
  if (!response.ok) throw await readError(response);
  return response;
}

type ParametersOf<Path extends string> = Parameters & Readonly<Record<PathName<Path>, string | number>>;

/** The answer is trusted to be what the schema of the route says. */
export async function getJson<Path extends ApiPath<'get'>>(
  path: Path,
  parameters: ParametersOf<Path>,
  signal?: AbortSignal,
): Promise<ApiAnswer<'get', Path>> {
  const response = await send(apiPath(path, parameters), signal === undefined ? {} : { signal });
  return response.json();
}

/** Raw bytes, e.g. of a body. */
export async function getBytes(path: string, parameters: Parameters = {}, signal?: AbortSignal): Promise<Response> {
  return send(apiPath(path, parameters), signal === undefined ? {} : { signal });
}

/** JSON has no NaN and writes null for it, which often means "none": such a body is never sent. */
function refuseNoNumber(name: string, value: unknown): unknown {
  if (typeof value === 'number' && !Number.isFinite(value))
    throw new Error(`${name}: this is no number. Nothing was saved.`);
  return value;
}

/** An answer without a body is null. */
export async function sendJson<Method extends 'post' | 'put' | 'patch' | 'delete', const Path extends ApiPath<Method>>(
  method: Method,
  path: Path,
  parameters: ParametersOf<Path>,
  body?: unknown,
): Promise<ApiAnswer<Method, Path>> {
  const response = await send(apiPath(path, parameters), {
    method: method.toUpperCase(),
    ...(body === undefined
      ? {}
      : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body, refuseNoNumber) }),
  });
  const text = await response.text();
  return JSON.parse(text === '' ? 'null' : text);
}
