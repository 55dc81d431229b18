/** Finds the running gateway and asks its admin API. Whatever goes wrong is one line for the operator. */
import { readFileSync } from 'node:fs';
import { hostname, userInfo } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { defaultDataDir } from '../default-data-dir.ts';
import { OperatorError } from '../errors.ts';
import { upload } from './upload.ts';

const ANSWER_LIMIT_MS = 60_000;

export interface ClientFlags {
  readonly url?: string;
  readonly token?: string;
  readonly dataDir?: string;
}

export interface AskOptions {
  readonly method: string;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as they are, in place of a body. */
  readonly bytes?: Uint8Array<ArrayBuffer>;
}

type Environment = Readonly<Record<string, string | undefined>>;

export interface GatewayClient {
  readonly url: string;
  /** Sends and reads JSON; throws an OperatorError unless the status is 2xx. */
  readonly ask: <T>(schema: z.ZodType<T>, path: string, options?: AskOptions) => Promise<T>;
  /** An open answer, for streams. */
  readonly open: (path: string, headers: Readonly<Record<string, string>>, signal: AbortSignal) => Promise<Response>;
  /** Sends a body of any size, and reads JSON however long that takes; throws as `ask` does. */
  readonly upload: <T>(schema: z.ZodType<T>, path: string, body: AsyncIterable<Uint8Array>) => Promise<T>;
}

const AdminFile = z.object({ url: z.string(), token: z.string() });
const ErrorAnswer = z.object({ error: z.object({ code: z.string(), message: z.string() }) });

function codeOf(error: unknown): string {
  if (error instanceof AggregateError) return codeOf(error.errors[0]);
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

function readAdminFile(dataDir: string): z.infer<typeof AdminFile> {
  const path = join(dataDir, 'admin.json');
  try {
    return AdminFile.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch (cause) {
    const code = codeOf(cause);
    if (code === 'ENOENT')
      throw new OperatorError(
        `no gateway has run with the data directory ${dataDir}: start one with \`tollgate start\`, or give --data-dir, or --url and --token`,
        { cause },
      );
    if (code === 'EACCES')
      throw new OperatorError(`${path} belongs to another user; run this as the gateway's user`, { cause });
    throw new OperatorError(`${path} is damaged; starting the gateway again mends it`, { cause });
  }
}

function readToken(env: Environment): string | undefined {
  const file = env['TOLLGATE_ADMIN_TOKEN_FILE'];
  if (env['TOLLGATE_ADMIN_TOKEN'] !== undefined || file === undefined) return env['TOLLGATE_ADMIN_TOKEN'];
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (cause) {
    throw new OperatorError(`TOLLGATE_ADMIN_TOKEN_FILE: cannot read ${file}`, { cause });
  }
}

function findGateway(flags: ClientFlags, env: Environment): { readonly url: string; readonly token: string } {
  const url = flags.url ?? env['TOLLGATE_ADMIN_URL'];
  const token = flags.token ?? readToken(env);
  if (url !== undefined && token !== undefined) return { url: url.replace(/\/+$/, ''), token };
  const found = readAdminFile(flags.dataDir ?? env['TOLLGATE_DATA_DIR'] ?? defaultDataDir(env));
  return { url: (url ?? found.url).replace(/\/+$/, ''), token: token ?? found.token };
}

/** Who asks for a change, for the gateway's audit trail: printable ASCII, whatever the names are. */
function readActorName(): string {
  let user = '';
  try {
    user = userInfo().username;
  } catch {
    // A user id without a name (a container): then only the machine is known.
  }
  return `${user === '' ? 'unknown' : user}@${hostname()}`.replace(/[^\x21-\x7e]/g, '?').slice(0, 100);
}

async function describeRefusal(response: Response): Promise<OperatorError> {
  const parsed = ErrorAnswer.safeParse(await response.json().catch(() => null));
  if (response.status === 401)
    return new OperatorError(
      'the gateway does not accept this admin token; give --token, or the --data-dir of this gateway',
    );
  return new OperatorError(
    parsed.success ? parsed.data.error.message : `the gateway answered with status ${response.status}`,
  );
}

/** Nobody listens, or somebody does who does not answer: that is not mended by starting another gateway. */
function describeFailure(url: string, cause: unknown): OperatorError {
  const code = codeOf(cause instanceof Error ? cause.cause : null);
  if (code === 'ECONNRESET' || code === 'EPIPE' || code === 'UND_ERR_SOCKET')
    return new OperatorError(
      `something at ${url} took the connection and closed it without an answer: the gateway's admin port has no place left (its log says so), or it is just stopping; try again, and look who holds connections to that port`,
      { cause },
    );
  return new OperatorError(`no gateway answers at ${url}; start it with \`tollgate start\``, { cause });
}

function contentType(options: AskOptions | undefined): { 'content-type'?: string } {
  if (options?.bytes !== undefined) return { 'content-type': 'application/octet-stream' };
  return options?.body === undefined ? {} : { 'content-type': 'application/json' };
}

/** Reads `admin.json` at once, so that a missing gateway is said before anything is asked. */
export function createGatewayClient(flags: ClientFlags, env: Environment): GatewayClient {
  const { url, token } = findGateway(flags, env);
  async function send(path: string, init: RequestInit): Promise<Response> {
    let response: Response;
    try {
      response = await fetch(`${url}${path}`, init);
    } catch (cause) {
      if (cause instanceof Error && cause.name === 'AbortError') throw cause;
      if (cause instanceof Error && cause.name === 'TimeoutError')
        throw new OperatorError(`the gateway at ${url} did not answer within ${ANSWER_LIMIT_MS / 1_000} s`, { cause });
      throw describeFailure(url, cause);
    }
    if (!response.ok) throw await describeRefusal(response);
    return response;
  }
  const authorization = `Bearer ${token}`;
  return {
    url,
    ask: async (schema, path, options) => {
      const response = await send(path, {
        method: options?.method ?? 'GET',
        headers: {
          authorization,
          ...(options === undefined ? {} : { 'x-tollgate-actor': readActorName() }),
          ...contentType(options),
        },
        signal: AbortSignal.timeout(ANSWER_LIMIT_MS),
        ...(options?.body === undefined ? {} : { body: JSON.stringify(options.body) }),
        ...(options?.bytes === undefined ? {} : { body: options.bytes }),
      });
      return schema.parse(await response.json());
    },
    open: (path, headers, signal) => send(path, { headers: { authorization, ...headers }, signal }),
    upload: async (schema, path, body) => {
      const headers = { authorization, 'x-tollgate-actor': readActorName() };
      const response = await upload(`${url}${path}`, headers, body);
      if (!response.ok) throw await describeRefusal(response);
      return schema.parse(await response.json());
    },
  };
}

const Page = z.object({ data: z.array(z.record(z.string(), z.json())), next_cursor: z.string().nullable() });
export type ApiRecord = z.infer<typeof Page>['data'][number];

/** The rows of a list, page after page, at most `limit`. */
export async function* readList(
  client: GatewayClient,
  path: string,
  parameters: URLSearchParams,
  limit: number,
  pageRows: number,
): AsyncGenerator<ApiRecord> {
  let left = limit;
  let cursor: string | null = null;
  do {
    const query = new URLSearchParams(parameters);
    query.set('limit', String(Math.min(pageRows, left)));
    if (cursor !== null) query.set('cursor', cursor);
    const page: z.infer<typeof Page> = await client.ask(Page, `${path}?${query}`);
    yield* page.data;
    left -= page.data.length;
    cursor = page.next_cursor;
  } while (cursor !== null && left > 0);
}
