/** Fetches a provider's reports with its admin key, which comes from the environment and goes into one header only. */
import { setGlobalProxyFromEnv } from 'node:http';
import { z } from 'zod';
import type { Environment } from '../../vocabulary/config.ts';
import { OperatorError } from '../../vocabulary/errors.ts';
import { cutText, terminalText } from '../terminal-text.ts';
import { MAX_REPORT_BYTES, readWithin } from './read-report-files.ts';
import type { ReportText } from './report/collect-report.ts';
import { dayStartMs, type ReportProvider } from './report/provider-report.ts';

const PAGE_LIMIT_MS = 30_000;
/** A year by days takes about a dozen for each endpoint. */
const MAX_PAGES = 100;
const MAX_MESSAGE_CHARACTERS = 300;

interface Endpoint {
  readonly path: string;
  readonly query: (from: string, to: string) => URLSearchParams;
}

interface Source {
  readonly name: string;
  readonly keyName: string;
  readonly urlName: string;
  readonly defaultUrl: string;
  readonly headers: (key: string) => Readonly<Record<string, string>>;
  readonly endpoints: readonly Endpoint[];
}

/** OpenAI's cookbook repeats `group_by` without brackets. */
function openAi(path: string, groupBy: string, limit: number): Endpoint {
  return {
    path: `/v1/organization/${path}`,
    query: (from, to) =>
      new URLSearchParams({
        start_time: String(dayStartMs(from) / 1_000),
        end_time: String(dayStartMs(to) / 1_000),
        bucket_width: '1d',
        group_by: groupBy,
        limit: String(limit),
      }),
  };
}

function anthropic(path: string, groupBy: string): Endpoint {
  return {
    path: `/v1/organizations/${path}`,
    query: (from, to) =>
      new URLSearchParams({
        starting_at: `${from}T00:00:00Z`,
        ending_at: `${to}T00:00:00Z`,
        bucket_width: '1d',
        'group_by[]': groupBy,
        limit: '31',
      }),
  };
}

const SOURCES: Readonly<Record<ReportProvider, Source>> = {
  openai: {
    name: 'OpenAI',
    keyName: 'OPENAI_ADMIN_KEY',
    urlName: 'OPENAI_ADMIN_URL',
    defaultUrl: 'https://api.openai.com',
    headers: (key) => ({ authorization: `Bearer ${key}` }),
    endpoints: [
      openAi('costs', 'line_item', 180),
      openAi('usage/completions', 'model', 31),
      openAi('usage/embeddings', 'model', 31),
    ],
  },
  anthropic: {
    name: 'Anthropic',
    keyName: 'ANTHROPIC_ADMIN_KEY',
    urlName: 'ANTHROPIC_ADMIN_URL',
    defaultUrl: 'https://api.anthropic.com',
    headers: (key) => ({ 'x-api-key': key, 'anthropic-version': '2023-06-01' }),
    endpoints: [anthropic('cost_report', 'description'), anthropic('usage_report/messages', 'model')],
  },
};

const Paging = z.object({ has_more: z.boolean().nullish(), next_page: z.string().nullish() });
const Refusal = z.object({ error: z.union([z.string(), z.object({ message: z.string() })]) });

function readBase({ urlName, defaultUrl }: Source, env: Environment): string {
  const base = env[urlName] ?? defaultUrl;
  const url = URL.parse(base);
  if (url === null) throw new OperatorError(`${urlName}: ${JSON.stringify(base)} is not an address`);
  const isHere = ['127.0.0.1', '[::1]', 'localhost'].includes(url.hostname);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isHere))
    throw new OperatorError(`${urlName}: an admin key is only sent over https (or to this machine)`);
  return base.replace(/\/+$/, '');
}

function readKey({ name, keyName }: Source, env: Environment): string {
  const key = env[keyName]?.trim() ?? '';
  if (key === '')
    throw new OperatorError(
      `--live needs an admin key of ${name} in the environment variable ${keyName}; without one, export a report and give it with --file`,
    );
  if (!/^[\x21-\x7e]+$/.test(key)) throw new OperatorError(`${keyName} has characters that no key has`);
  return key;
}

async function readBody({ body }: Response, leftBytes: number): Promise<string> {
  const bytes = body === null ? Buffer.alloc(0) : await readWithin(body, leftBytes);
  if (bytes === null)
    throw new OperatorError(
      `the reports are larger than ${MAX_REPORT_BYTES / 1024 / 1024} MiB; ask for a shorter time`,
    );
  return bytes.toString('utf8');
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function describeRefusal(source: Source, path: string, response: Response, body: string, key: string): OperatorError {
  const read = Refusal.safeParse(parseJson(body));
  const said = !read.success ? '' : typeof read.data.error === 'string' ? read.data.error : read.data.error.message;
  // Providers repeat the key in their message, mostly cut.
  const message = cutText(
    terminalText(said.replaceAll(key, '(key)').replace(/sk-\S+/g, '(key)')),
    MAX_MESSAGE_CHARACTERS,
  );
  const retryAfter = response.headers.get('retry-after');
  const advice =
    response.status === 401 || response.status === 403
      ? `; ${source.keyName} has to be an admin key that may read usage`
      : response.status === 429 && retryAfter !== null && /^\d{1,6}$/.test(retryAfter)
        ? `; try again in ${retryAfter} s`
        : '';
  return new OperatorError(
    `${source.name} answered ${path} with status ${response.status}${message === '' ? '' : `: ${message}`}${advice}`,
  );
}

async function fetchPage(url: string, key: string, source: Source, leftBytes: number): Promise<string> {
  const { pathname, origin } = new URL(url);
  let response: Response;
  let body: string;
  try {
    response = await fetch(url, {
      headers: { ...source.headers(key), accept: 'application/json' },
      // A redirect would send the key to another host.
      redirect: 'error',
      signal: AbortSignal.timeout(PAGE_LIMIT_MS),
    });
    body = await readBody(response, leftBytes);
  } catch (cause) {
    if (cause instanceof OperatorError) throw cause;
    const isLate = cause instanceof Error && cause.name === 'TimeoutError';
    throw new OperatorError(
      isLate
        ? `${origin} did not answer ${pathname} within ${PAGE_LIMIT_MS / 1_000} s`
        : `${origin} cannot be reached for ${pathname}, or it redirects`,
      { cause },
    );
  }
  if (!response.ok) throw describeRefusal(source, pathname, response, body, key);
  return body;
}

/** Days in UTC; `to` is exclusive. */
export async function fetchReport(
  provider: ReportProvider,
  { from, to }: { readonly from: string; readonly to: string },
  env: Environment,
): Promise<readonly ReportText[]> {
  const source = SOURCES[provider];
  const key = readKey(source, env);
  const base = readBase(source, env);
  const texts: ReportText[] = [];
  let leftBytes = MAX_REPORT_BYTES;
  // For these requests only: the gateway is asked directly.
  const restoreProxies = setGlobalProxyFromEnv(env);
  try {
    for (const { path, query } of source.endpoints) {
      const parameters = query(from, to);
      for (let page = 1; ; page += 1) {
        if (page > MAX_PAGES)
          throw new OperatorError(`${path} has more than ${MAX_PAGES} pages; ask for a shorter time`);
        const text = await fetchPage(`${base}${path}?${parameters}`, key, source, leftBytes);
        leftBytes -= Buffer.byteLength(text);
        texts.push({ name: `${path}, page ${page}`, text });
        const { has_more, next_page } = Paging.safeParse(parseJson(text)).data ?? {};
        if (has_more !== true || next_page === null || next_page === undefined || next_page === parameters.get('page'))
          break;
        parameters.set('page', next_page);
      }
    }
  } finally {
    restoreProxies();
  }
  return texts;
}
