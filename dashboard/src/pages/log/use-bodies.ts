/** The two bodies of a call, read: the request parsed, the answer put together. */
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { type LogDetail, logBodyQuery, type StoredBody } from '../../api/logs.ts';
import { type AssembledResponse, assembleResponse } from '../../messages/assemble-response.ts';
import { decodeBody } from '../../messages/body-text.ts';
import { parseJson } from '../../messages/json-reading.ts';

export interface BodyState {
  readonly body: StoredBody | undefined;
  readonly error: Error | null;
  readonly isLoading: boolean;
  readonly retry: () => void;
}

export function useBody(log: LogDetail, direction: 'request' | 'response', isWanted = true): BodyState {
  const isKept = log.bodies?.[direction] !== undefined && log.bodies[direction] !== null;
  const { data, error, isLoading, refetch } = useQuery({
    ...logBodyQuery(log.id, direction),
    enabled: isKept && isWanted,
  });
  return { body: data, error, isLoading, retry: () => void refetch() };
}

export function useRequestJson(body: StoredBody | undefined): unknown {
  return useMemo(() => (body === undefined ? null : (parseJson(decodeBody(body.bytes).text) ?? null)), [body]);
}

const NOT_DECODED: AssembledResponse = { framing: 'binary', value: null, events: 0, error: null, problems: [] };

export function useAssembled(log: LogDetail, body: StoredBody | undefined): AssembledResponse | null {
  const contentType = log.bodies?.response?.content_type ?? null;
  const { endpoint } = log;
  return useMemo(
    () =>
      body === undefined
        ? null
        : body.isEncoded
          ? NOT_DECODED
          : assembleResponse({ bytes: body.bytes, contentType, endpoint }),
    [body, contentType, endpoint],
  );
}
