/** Calls: pages of the log, one call, its bodies, and the sums and facets over a filter. */
import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { ApiAnswer } from '../../../src/control/admin/api-types.ts';
import type { LogColumn } from '../../../src/control/store/log-columns.ts';
import { requestedAtOf } from '../../../src/vocabulary/uuid.ts';
import { ApiError, getBytes, getJson, type Parameters } from './client.ts';

/** What all questions about the log have in common. */
export interface LogsQuestion {
  readonly from: string;
  readonly to: string;
  readonly f: readonly string[];
  readonly q: string | undefined;
  readonly excludeRuns: boolean;
}

export function logsParameters({ from, to, f, q, excludeRuns }: LogsQuestion): Parameters {
  return { from, to, f, q, exclude_runs: excludeRuns ? 'true' : undefined };
}

type LogRecord = ApiAnswer<'get', '/logs'>['data'][number];

/** A call of a list: its id, and what else was asked for. */
export type ListedLog = LogRecord & { readonly id: string; readonly isOpen?: true };

function hasId(record: LogRecord): record is LogRecord & { readonly id: string } {
  return record.id !== undefined;
}

/** What a list can ask for of a call: its columns, the first lines of what was said, and where a search found it. */
export type ListField = LogColumn | 'snippet' | 'matches';

const PAGE_ROWS = 100;

export function logsQuery(question: LogsQuestion, sort: string, fields: readonly ListField[]) {
  return infiniteQueryOptions({
    queryKey: ['logs', question, sort, fields],
    queryFn: async ({ pageParam, signal }) => {
      const { data, next_cursor, searched_to } = await getJson(
        '/logs',
        { ...logsParameters(question), sort, fields: fields.join(','), limit: PAGE_ROWS, cursor: pageParam },
        signal,
      );
      return { data: data.filter(hasId), next_cursor, searched_to };
    },
    initialPageParam: '',
    getNextPageParam: ({ next_cursor }) => next_cursor,
  });
}

/** The first lines of these calls, at most a hundred, by id. They do not change. */
export function snippetsQuery(ids: readonly string[]) {
  return queryOptions({
    queryKey: ['snippets', ids],
    queryFn: async ({ signal }) => {
      const times = ids.map((id) => requestedAtOf(id).getTime());
      const parameters = {
        f: [`id:in:${ids.join(',')}`],
        from: new Date(Math.min(...times)).toISOString(),
        to: new Date(Math.max(...times) + 1).toISOString(),
        fields: 'id,snippet',
        limit: ids.length,
      };
      const { data } = await getJson('/logs', parameters, signal);
      return new Map(data.filter(hasId).map(({ id, snippet }) => [id, snippet ?? null]));
    },
    enabled: ids.length > 0,
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** Open calls end, and others begin. */
const OPEN_REFETCH_MS = 2_000;

/** The calls that have not ended; while live is on, also those that begin after the window's end. */
export function openLogsQuery(question: LogsQuestion, fields: readonly ListField[], isLive: boolean) {
  const parameters = { ...logsParameters(question), to: isLive ? undefined : question.to, fields: fields.join(',') };
  return queryOptions({
    queryKey: ['logs-open', parameters],
    queryFn: async ({ signal }) => {
      const { data, total } = await getJson('/logs/open', parameters, signal);
      return { rows: data.filter(hasId).map((row): ListedLog => ({ ...row, isOpen: true })), total };
    },
    refetchInterval: OPEN_REFETCH_MS,
  });
}

/** With another time to wait, the answer of before stays meanwhile. */
export function logsSummaryQuery(question: LogsQuestion, waitMs: number | undefined) {
  return queryOptions({
    queryKey: ['logs-summary', question, waitMs],
    queryFn: ({ signal }) => getJson('/logs/summary', { ...logsParameters(question), wait_ms: waitMs }, signal),
    ...(waitMs === undefined ? {} : { placeholderData: keepPreviousData }),
  });
}

export function logsFacetsQuery(question: LogsQuestion) {
  return queryOptions({
    queryKey: ['logs-facets', question],
    queryFn: ({ signal }) => getJson('/logs/facets', logsParameters(question), signal),
  });
}

export type HeaderList = readonly (readonly [string, string])[];

/** One call with all there is about it. */
export type LogDetail = ApiAnswer<'get', '/logs/{id}'>;

export function logQuery(id: string) {
  return queryOptions({
    queryKey: ['log', id],
    queryFn: ({ signal }) => getJson('/logs/{id}', { id }, signal),
    refetchInterval: ({ state }) => (state.data?.state === 'open' ? OPEN_REFETCH_MS : false),
    // Another call's record must never stand under this one's id.
    placeholderData: () => undefined,
  });
}

export interface StoredBody {
  /** Content encoding undone, unless `isEncoded`. */
  readonly bytes: Uint8Array;
  /** Bytes that are missing (the middle, or of an encoded body all that follows); 0 when it is whole. */
  readonly cutBytes: number;
  /** It goes on behind this many bytes, which is as far as it was decoded; null when it does not. */
  readonly decodedLimit: number | null;
  /** It is not encoded as it says, so these are the bytes of the wire. */
  readonly isEncoded: boolean;
}

/** Bodies are large: they are forgotten soon after nobody shows them. */
const BODY_KEPT_MS = 60_000;

function readNumberHeader(response: Response, name: string): number | null {
  const text = response.headers.get(name);
  return text === null ? null : Number(text);
}

async function readStoredBody(path: string, signal: AbortSignal): Promise<StoredBody> {
  try {
    const response = await getBytes(path, { decoded: 'true' }, signal);
    return {
      bytes: new Uint8Array(await response.arrayBuffer()),
      cutBytes: readNumberHeader(response, 'x-tollgate-cut') ?? 0,
      decodedLimit: readNumberHeader(response, 'x-tollgate-decoded-limit'),
      isEncoded: false,
    };
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'body_not_decodable') throw error;
    const response = await getBytes(path, {}, signal);
    return { bytes: new Uint8Array(await response.arrayBuffer()), cutBytes: 0, decodedLimit: null, isEncoded: true };
  }
}

export function logBodyQuery(id: string, direction: 'request' | 'response') {
  return queryOptions({
    queryKey: ['log-body', id, direction],
    queryFn: ({ signal }) => readStoredBody(`/logs/${encodeURIComponent(id)}/${direction}`, signal),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: BODY_KEPT_MS,
    placeholderData: () => undefined,
  });
}
