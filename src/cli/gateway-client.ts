/** Finds the running gateway and asks its admin API. Every failure is one line for the operator. */
import { hostname, userInfo } from 'node:os';
import { z } from 'zod';
import type { Environment } from '../vocabulary/config.ts';
import { OperatorError } from '../vocabulary/errors.ts';
import { describeFailure } from './describe-failure.ts';
import { findGateway, type GatewayFlags } from './find-gateway.ts';
import { parseId } from './parse-id.ts';
import { upload } from './upload.ts';

const ANSWER_LIMIT_MS = 60_000;

export interface ClientFlags extends GatewayFlags {
  readonly account?: string;
  readonly json?: true;
}

export interface AskOptions {
  readonly method: string;
  readonly body?: unknown;
  /** Sent unchanged, instead of `body`. */
  readonly bytes?: Uint8Array<ArrayBuffer>;
}

export interface GatewayClient {
  readonly url: string;
  /** Sends and reads JSON. Throws an OperatorError unless the status is 2xx. */
  readonly ask: <T>(schema: z.ZodType<T>, path: string, options?: AskOptions) => Promise<T>;
  /** The answer whatever its status is. Throws an OperatorError where there is none. */
  readonly read: (path: string, signal: AbortSignal) => Promise<Response>;
  readonly open: (path: string, headers: Readonly<Record<string, string>>, signal: AbortSignal) => Promise<Response>;
  /** Sends a body of any size and waits for the JSON answer without a limit. Throws as `ask` does. */
  readonly upload: <T>(schema: z.ZodType<T>, path: string, body: AsyncIterable<Uint8Array>) => Promise<T>;
}

const ErrorAnswer = z.object({ error: z.object({ code: z.string(), message: z.string() }) });

/** Which account the commands are about; without it, that of the token, or the first. */
function readAccount({ account }: ClientFlags, env: Environment): { 'x-tollgate-account'?: string } {
  const text = account ?? env['TOLLGATE_ACCOUNT'] ?? '';
  return text === '' ? {} : { 'x-tollgate-account': String(parseId(text)) };
}

/** The author of a change in the gateway's audit trail, in printable ASCII. */
function readActorName(): string {
  let user = '';
  try {
    user = userInfo().username;
  } catch {
    // A container's user may have no name.
  }
  return `${user === '' ? 'unknown' : user}@${hostname()}`.replace(/[^\x21-\x7e]/g, '?').slice(0, 100);
}

/** What `fetch` throws when the connection ends before the answer does. */
export function isBrokenOff(error: unknown): boolean {
  return error instanceof TypeError || (error instanceof Error && 'code' in error && error.code === 'UND_ERR_SOCKET');
}

async function describeRefusal(response: Response): Promise<OperatorError> {
  const parsed = ErrorAnswer.safeParse(await response.json().catch(() => null));
  if (response.status === 401)
    return new OperatorError('the gateway does not accept this token; give --token, or the --data-dir of this gateway');
  return new OperatorError(
    parsed.success ? parsed.data.error.message : `the gateway answered with status ${response.status}`,
  );
}

function contentType(options: AskOptions | undefined): { 'content-type'?: string } {
  if (options?.bytes !== undefined) return { 'content-type': 'application/octet-stream' };
  return options?.body === undefined ? {} : { 'content-type': 'application/json' };
}

/** Reads `admin.json` at once: a missing gateway is reported before anything is asked. */
export function createGatewayClient(flags: ClientFlags, env: Environment = process.env): GatewayClient {
  const { url, token } = findGateway(flags, env);
  async function reach(path: string, init: RequestInit): Promise<Response> {
    try {
      return await fetch(`${url}${path}`, init);
    } catch (cause) {
      if (cause instanceof Error && cause.name === 'AbortError') throw cause;
      if (cause instanceof Error && cause.name === 'TimeoutError')
        throw new OperatorError(`the gateway at ${url} did not answer within ${ANSWER_LIMIT_MS / 1_000} s`, { cause });
      throw describeFailure(url, cause);
    }
  }
  async function send(path: string, init: RequestInit): Promise<Response> {
    const response = await reach(path, init);
    if (!response.ok) throw await describeRefusal(response);
    return response;
  }
  const credentials = { authorization: `Bearer ${token}`, ...readAccount(flags, env) };
  return {
    url,
    ask: async (schema, path, options) => {
      const response = await send(path, {
        method: options?.method ?? 'GET',
        headers: {
          ...credentials,
          ...(options === undefined ? {} : { 'x-tollgate-actor': readActorName() }),
          ...contentType(options),
        },
        signal: AbortSignal.timeout(ANSWER_LIMIT_MS),
        ...(options?.body === undefined ? {} : { body: JSON.stringify(options.body) }),
        ...(options?.bytes === undefined ? {} : { body: options.bytes }),
      });
      return schema.parse(await response.json());
    },
    read: (path, signal) => reach(path, { headers: credentials, signal }),
    open: (path, headers, signal) => send(path, { headers: { ...credentials, ...headers }, signal }),
    upload: async (schema, path, body) => {
      const headers = { ...credentials, 'x-tollgate-actor': readActorName() };
      const response = await upload(`${url}${path}`, headers, body);
      if (!response.ok) throw await describeRefusal(response);
      return schema.parse(await response.json());
    },
  };
}

/** A record of the API whose fields `fields.ts` reads. */
export const AnyRecord = z.record(z.string(), z.json());
export type ApiRecord = z.infer<typeof AnyRecord>;
export const RecordList = z.object({ data: z.array(AnyRecord) });
const Page = RecordList.extend({ next_cursor: z.string().nullable(), searched_to: z.string().nullish() });
type Page = z.infer<typeof Page>;

/** The fields that are given, and each filter as `f`. */
export function toQuery(
  fields: Readonly<Record<string, string | undefined>>,
  filters: readonly string[] = [],
): URLSearchParams {
  const query = new URLSearchParams(filters.map((filter) => ['f', filter]));
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) query.set(name, value);
  return query;
}

/** All rows of a list, page by page, at most `limit`. */
export async function* readList(...list: Parameters<typeof readPages>): AsyncGenerator<ApiRecord> {
  for await (const { data } of readPages(...list)) yield* data;
}

/** The pages of a list, with at most `limit` rows together. */
export async function* readPages(
  client: GatewayClient,
  path: string,
  parameters: URLSearchParams,
  limit: number,
  pageRows: number,
): AsyncGenerator<Page> {
  let left = limit;
  let cursor: string | null = null;
  do {
    const query = new URLSearchParams(parameters);
    query.set('limit', String(Math.min(pageRows, left)));
    if (cursor !== null) query.set('cursor', cursor);
    const page: Page = await client.ask(Page, `${path}?${query}`);
    yield page;
    left -= page.data.length;
    cursor = page.next_cursor;
  } while (cursor !== null && left > 0);
}
