/** The cache of server state: what it keeps, when it asks again, and that a lost session leads to the sign-in page. */
import { keepPreviousData, QueryCache, QueryClient } from '@tanstack/react-query';
import { ApiError } from '../api/client.ts';

const STALE_MS = 10_000;
const RETRIES = 1;

export function createQueryClient(onSignedOut: () => void): QueryClient {
  return new QueryClient({
    queryCache: new QueryCache({
      onError: (error) => {
        if (error instanceof ApiError && error.status === 401) onSignedOut();
      },
    }),
    defaultOptions: {
      queries: {
        staleTime: STALE_MS,
        // A refusal stays one; only what may pass by itself is tried again.
        retry: (count, error) =>
          count < RETRIES && error instanceof ApiError && (error.status === 0 || error.status >= 500),
        refetchOnWindowFocus: false,
        placeholderData: keepPreviousData,
      },
    },
  });
}
