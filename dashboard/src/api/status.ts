/** How the gateway is, and where clients reach it. */
import { queryOptions } from '@tanstack/react-query';
import { getJson } from './client.ts';

const STALE_MS = 60_000;

/** For what does not change while one looks, such as the base address. */
export const statusQuery = queryOptions({
  queryKey: ['status', 'steady'],
  queryFn: ({ signal }) => getJson('/status', {}, signal),
  staleTime: STALE_MS,
});
