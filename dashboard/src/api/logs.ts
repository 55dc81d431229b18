/** Calls: pages of the log, one call, its bodies, and the sums and facets over a filter. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import type { LogDetailBody, LogFacetsBody, LogSummaryBody } from '../../../src/admin/log-bodies.ts';
import type { LogColumn, LogRow } from '../../../src/runs/log-columns.ts';
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

/** A call of a list: the columns that were asked for. */
export type ListedLog = Partial<Omit<LogRow, 'id'>> & { readonly id: string };

interface LogPage {
  readonly data: readonly ListedLog[];
  readonly next_cursor: string | null;
}

const PAGE_ROWS = 100;

export function logsQuery(question: LogsQuestion, sort: string, fields: readonly LogColumn[]) {
  return infiniteQueryOptions({
    queryKey: ['logs', question, sort, fields],
    queryFn: ({ pageParam, signal }) =>
      getJson<LogPage>(
        '/logs',
        { ...logsParameters(question), sort, fields: fields.join(','), limit: PAGE_ROWS, cursor: pageParam },
        signal,
      ),
    initialPageParam: '',
    getNextPageParam: ({ next_cursor }) => next_cursor,
  });
}

export function logsSummaryQuery(question: LogsQuestion) {
  return queryOptions({
    queryKey: ['logs-summary', question],
    queryFn: ({ signal }) => getJson<LogSummaryBody>('/logs/summary', logsParameters(question), signal),
  });
}

export function logsFacetsQuery(question: LogsQuestion) {
  return queryOptions({
    queryKey: ['logs-facets', question],
    queryFn: ({ signal }) => getJson<LogFacetsBody>('/logs/facets', logsParameters(question), signal),
  });
}

export type HeaderList = readonly (readonly [string, string])[];

/** One call with all there is about it. */
export type LogDetail = Omit<LogDetailBody, 'id'> & { readonly id: string };

/** An open call is asked for again until it has ended. */
const OPEN_REFETCH_MS = 2_000;

export function logQuery(id: string) {
  return queryOptions({
    queryKey: ['log', id],
    queryFn: ({ signal }) => getJson<LogDetail>(`/logs/${encodeURIComponent(id)}`, {}, signal),
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
